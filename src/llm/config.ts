/** What a model is made of, apart from its numbers. */

export interface LlamaConfig {
  /** Blocks. */
  readonly layers: number;
  /** Length of a hidden vector, d below. */
  readonly width: number;
  /** Length of the vectors inside the feed-forward part. */
  readonly innerWidth: number;
  readonly heads: number;
  /** Heads of keys and values; each serves `heads / kvHeads` query heads. */
  readonly kvHeads: number;
  /** Length of one head's vector, D below. */
  readonly headDim: number;
  readonly vocabSize: number;
  /** The most positions that the model was trained for. */
  readonly contextLength: number;
  readonly normEps: number;
  readonly ropeBase: number;
  /** Rotate neighbouring features (GGUF's order) instead of the two halves of a head (Hugging Face's order). */
  readonly ropeTraditional: boolean;
  /** Tokens that end an answer. */
  readonly stopTokens: readonly number[];
}
