// The real model, for the tests that need it, and what it is known to say.
import { fetchModel } from "../../scripts/fetch-model.ts";
import * as mx from "../../src/index.ts";
import greedy from "./data/greedy.json";

/** One prompt, its token ids, and what the model answers when it takes the likeliest token each time. */
export interface Expected {
  prompt: string;
  promptIds: number[];
  ids: number[];
  text: string;
  /** The two likeliest first tokens and their scores, by an independent NumPy program: id, score, id, score. */
  firstTokenLogits: number[];
}

export const expected: readonly Expected[] = greedy.prompts;

/** The path of the model's file; fetched when it is not there. */
export function modelPath(): Promise<string> {
  return fetchModel();
}

/** Several test files run at a time. Threads of a BLAS that wait for each other collapse on busy cores; one does not. */
export function shareTheMachine(): void {
  mx.setBlasThreads(1);
}
