/** The namespace mx.distributed: computing over several processes. */

export { allGather, allMax, allMin, allSum, type GroupOptions, recv, recvLike, send, sumScatter } from "./exchange.ts";
export { type DistributedBackend, Group, init, type InitOptions, isAvailable } from "./group.ts";
