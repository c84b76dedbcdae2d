// Loaded before a test file that runs under the emulator: a test that starts a program starts it through the emulator
// too, since the kernel cannot run this machine's Bun for arm64 by itself.
const bun = process.env["MLX_TS_ARM64_BUN"];
if (bun === undefined) throw new Error("MLX_TS_ARM64_BUN is not set: run this through `bun run test:arm64`");
process.execPath = bun;
export {};
