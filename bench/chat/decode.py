"""SmolLM2 in plain mlx.core: the same weights, operations and pipelining as src/llm, for bench/chat/run.ts.

Reads the path of the GGUF file from the command line, then one command a line from standard input, and answers each
with a line of JSON: `generate IDS N`, the ids of the prompt separated by commas and how many tokens to make.

With --usual the model is written as Python programs usually write it instead: mx.fast.rope, weights transposed at each
use, hidden vectors with batch and time as two axes, a cache that is updated by slice assignment.
"""

import json
import math
import sys
import time

import mlx.core as mx

mx.set_default_device(mx.cpu)
USUAL = "--usual" in sys.argv
QUANTIZED = "--quantized" in sys.argv
STEP = 256

raw, metadata = mx.load(sys.argv[1], return_metadata=True)
LAYERS = metadata["llama.block_count"].item()
HEADS = metadata["llama.attention.head_count"].item()
KV_HEADS = metadata["llama.attention.head_count_kv"].item()
DIM = metadata["llama.rope.dimension_count"].item()
EPS = metadata["llama.attention.layer_norm_rms_epsilon"].item()
BASE = metadata["llama.rope.freq_base"].item()


def weight(name):
    """A dense float32 matrix, or (weight, scales, biases, bits) with float32 scales."""
    w = raw[name + ".weight"]
    if name + ".scales" not in raw:
        return w.astype(mx.float32)
    scales = raw[name + ".scales"].astype(mx.float32)
    biases = raw[name + ".biases"].astype(mx.float32)
    bits = w.shape[-1] // scales.shape[-1]
    if QUANTIZED:
        return w, scales, biases, bits
    return mx.dequantize(w, scales, biases, group_size=32, bits=bits)


def turned(w):
    """A stored matrix (out, in) as one to multiply by: dense ones transposed."""
    return w if USUAL or isinstance(w, tuple) else w.T


PARTS = ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"]
embedding = weight("token_embd")
head = turned(embedding)
blocks = [{part: turned(weight(f"blk.{i}.{part}")) for part in PARTS} for i in range(LAYERS)]
output_norm = weight("output_norm")
mx.eval(embedding, head, blocks, output_norm)
raw = None


def linear(x, w):
    if isinstance(w, tuple):
        return mx.quantized_matmul(x, w[0], w[1], w[2], transpose=True, group_size=32, bits=w[3])
    return x @ w.T if USUAL else x @ w


def embed(ids):
    if isinstance(embedding, tuple):
        w, scales, biases, bits = embedding
        return mx.dequantize(
            mx.take(w, ids, 0), mx.take(scales, ids, 0), mx.take(biases, ids, 0), group_size=32, bits=bits
        )
    return mx.take(embedding, ids, 0)


def rotation(offset, length):
    if USUAL:
        return lambda x: mx.fast.rope(x, DIM, traditional=True, base=BASE, scale=1.0, offset=offset)
    pairs = DIM // 2
    frequencies = mx.exp(mx.arange(pairs) * (-math.log(BASE) / pairs))
    angles = mx.expand_dims(mx.arange(offset, offset + length), 1) * frequencies
    factors = mx.cos(angles) + mx.sin(angles) * 1j
    return lambda x: (x.view(mx.complex64) * factors).view(mx.float32)


class Cache:
    def __init__(self):
        self.layers = [None] * LAYERS
        self.length = 0
        self.start = None

    def update(self, layer, keys, values):
        end = self.length + keys.shape[2]
        if self.layers[layer] is None:
            self.layers[layer] = [None, None, 0]
        held = self.layers[layer]
        if end > held[2]:
            self.grow(held, end, keys.shape)
        if USUAL:
            held[0][..., self.length : end, :] = keys
            held[1][..., self.length : end, :] = values
            return held[0][..., :end, :], held[1][..., :end, :]
        if self.start is None:
            self.start = mx.array([self.length])
        held[0] = mx.slice_update(held[0], keys, self.start, [2])
        held[1] = mx.slice_update(held[1], values, self.start, [2])
        return self.first(held[0], end, held[2]), self.first(held[1], end, held[2])

    @staticmethod
    def grow(held, end, shape):
        room = -(-end // STEP) * STEP
        for part in range(2):
            more = mx.zeros((shape[0], shape[1], room - held[2], shape[3]))
            held[part] = more if held[2] == 0 else mx.concatenate([held[part], more], 2)
        held[2] = room

    @staticmethod
    def first(buffer, length, room):
        return buffer if length == room else mx.split(buffer, [length], 2)[0]

    def advance(self, positions):
        self.length += positions
        self.start = None


def to_heads(x, batch, length, count):
    if length == 1 and not USUAL:
        return x.reshape(batch, count, 1, -1)
    return x.reshape(batch, length, count, -1).transpose(0, 2, 1, 3)


def from_heads(x, batch, length):
    if USUAL:
        return x.transpose(0, 2, 1, 3).reshape(batch, length, -1)
    return (x if length == 1 else x.transpose(0, 2, 1, 3)).reshape(batch * length, -1)


def attention(x, w, batch, length, turn, cache, layer):
    query = turn(to_heads(linear(x, w["attn_q"]), batch, length, HEADS))
    key = turn(to_heads(linear(x, w["attn_k"]), batch, length, KV_HEADS))
    value = to_heads(linear(x, w["attn_v"]), batch, length, KV_HEADS)
    keys, values = cache.update(layer, key, value)
    attended = mx.fast.scaled_dot_product_attention(
        query, keys, values, scale=DIM**-0.5, mask="causal" if length > 1 else None
    )
    return linear(from_heads(attended, batch, length), w["attn_output"])


def feed_forward(x, w):
    gate = linear(x, w["ffn_gate"])
    return linear(gate * mx.sigmoid(gate) * linear(x, w["ffn_up"]), w["ffn_down"])


def next_scores(ids, cache):
    batch, length = ids.shape
    turn = rotation(cache.length, length)
    x = embed(ids if USUAL else ids.flatten())
    for layer, w in enumerate(blocks):
        h = x + attention(mx.fast.rms_norm(x, w["attn_norm"], EPS), w, batch, length, turn, cache, layer)
        x = h + feed_forward(mx.fast.rms_norm(h, w["ffn_norm"], EPS), w)
    cache.advance(length)
    last = x if length == 1 and not USUAL else x.reshape(batch, length, -1)[:, -1]
    return linear(mx.fast.rms_norm(last, output_norm, EPS), head)


def generate(prompt, count):
    """Token ids, seconds to the first token, seconds from there to the last one."""
    cache = Cache()
    begin = time.perf_counter()
    current = mx.argmax(next_scores(mx.array([prompt]), cache), -1)
    mx.eval(current)
    first = time.perf_counter()
    ids = []
    while len(ids) < count:
        following = None
        if len(ids) + 1 < count:
            following = mx.argmax(next_scores(current.reshape(1, 1), cache), -1)
            mx.async_eval(following)
        ids.append(current.item())
        current = following
    return ids, first - begin, time.perf_counter() - first


print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    _, text, count = line.split()
    ids, prefill, decode = generate([int(i) for i in text.split(",")], int(count))
    print(json.dumps({"ids": ids, "prefillSeconds": prefill, "decodeSeconds": decode}), flush=True)
