/** Language models: `import { load } from "mlx-ts/llm"`. */

export { KVCache } from "./cache.ts";
export type { LlamaConfig } from "./config.ts";
export { type CausalModel, type FinishReason, generate, type GenerateOptions, type Generation } from "./generate.ts";
export type { WeightMode } from "./gguf.ts";
export type { TokenizerSource } from "./gguf-tokenizer.ts";
export { LanguageModel, load, loadModel, type LoadModelOptions, type TextGeneration } from "./load.ts";
export { Llama, type LlamaBlock, type LlamaWeights } from "./models/llama.ts";
export { type Sampler, sampler, type SamplingOptions } from "./sample.ts";
export { type ChatTemplateOptions, type Message, type TextStream, Tokenizer } from "./tokenizer.ts";
export type { QuantizedWeight, Weight } from "./weights.ts";
