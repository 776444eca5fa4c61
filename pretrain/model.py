"""Qwen3's architecture in PyTorch, parameters under their checkpoint names, and a safetensors writer."""
import json
import math
import struct

import numpy as np
import torch
import torch.nn.functional as F


class Config:
    """The fields of config.json that shape the network."""

    def __init__(self, **fields):
        self.vocab_size = fields["vocab_size"]
        self.hidden_size = fields["hidden_size"]
        self.intermediate_size = fields["intermediate_size"]
        self.num_hidden_layers = fields["num_hidden_layers"]
        self.num_attention_heads = fields["num_attention_heads"]
        self.num_key_value_heads = fields["num_key_value_heads"]
        self.head_dim = fields["head_dim"]
        self.rope_theta = fields.get("rope_theta", 1e6)
        self.rms_norm_eps = fields.get("rms_norm_eps", 1e-6)


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rotary_tables(length, head_dim, theta):
    """cos and sin [length, head_dim], each half repeated, as in the Hugging Face implementation."""
    frequency = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * frequency[None]
    angle = torch.cat([angle, angle], -1)
    return angle.cos().float(), angle.sin().float()


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Decoder(torch.nn.Module):
    """Decoder-only transformer. `forward` takes ids [B, T] and the number of the sequence that each token
    belongs to [B, T], and gives the hidden state after the final norm, [B, T, hidden], or only the rows where `wanted`
    [B, T] is true; `noise` [B, T, hidden] is added to the embeddings. Logits are hidden @ embedding^T (tied)."""

    def __init__(self, config, seed=0):
        super().__init__()
        self.config = config
        c, g = config, torch.Generator().manual_seed(seed)
        d, q, kv = c.hidden_size, c.num_attention_heads * c.head_dim, c.num_key_value_heads * c.head_dim
        self.names = {}

        def add(name, value):
            self.names[name] = value.numel()
            self.register_parameter(name.replace(".", "/"), torch.nn.Parameter(value))

        def normal(rows, columns, std):
            return torch.randn(rows, columns, generator=g) * std

        add("model.embed_tokens.weight", normal(c.vocab_size, d, 0.7 / d**0.5))
        for i in range(c.num_hidden_layers):
            p = f"model.layers.{i}."
            add(p + "input_layernorm.weight", torch.ones(d))
            add(p + "self_attn.q_proj.weight", normal(q, d, d**-0.5))
            add(p + "self_attn.k_proj.weight", normal(kv, d, d**-0.5))
            add(p + "self_attn.v_proj.weight", normal(kv, d, d**-0.5))
            add(p + "self_attn.q_norm.weight", torch.ones(c.head_dim))
            add(p + "self_attn.k_norm.weight", torch.ones(c.head_dim))
            add(p + "self_attn.o_proj.weight", normal(d, q, q**-0.5 / (2 * c.num_hidden_layers) ** 0.5))
            add(p + "post_attention_layernorm.weight", torch.ones(d))
            add(p + "mlp.gate_proj.weight", normal(c.intermediate_size, d, d**-0.5))
            add(p + "mlp.up_proj.weight", normal(c.intermediate_size, d, d**-0.5))
            add(
                p + "mlp.down_proj.weight",
                normal(d, c.intermediate_size, c.intermediate_size**-0.5 / (2 * c.num_hidden_layers) ** 0.5),
            )
        add("model.norm.weight", torch.ones(d))

    def weight(self, name):
        return self._parameters[name.replace(".", "/")]

    def forward(self, ids, segments, wanted=None, noise=None):
        c = self.config
        b, t = ids.shape
        groups = c.num_attention_heads // c.num_key_value_heads
        q_width, kv_width = c.num_attention_heads * c.head_dim, c.num_key_value_heads * c.head_dim
        cos, sin = (table.to(ids.device) for table in rotary_tables(t, c.head_dim, c.rope_theta))
        # Queries go in blocks, so that a block skips the keys after its end.
        block = t // 3 if t % 3 == 0 else t
        masks = [causal_mask(segments, start, start + block) for start in range(0, t, block)]
        x = F.embedding(ids, self.weight("model.embed_tokens.weight"))
        if noise is not None:
            x = x + noise
        for i in range(c.num_hidden_layers):
            w = lambda name: self.weight(f"model.layers.{i}.{name}.weight")
            h = rms_norm(x, w("input_layernorm"), c.rms_norm_eps)
            qkv = h @ torch.cat([w("self_attn.q_proj"), w("self_attn.k_proj"), w("self_attn.v_proj")]).T
            q, k, v = qkv.split([q_width, kv_width, kv_width], -1)
            q = q.reshape(b, t, -1, c.head_dim).transpose(1, 2)
            k = k.reshape(b, t, -1, c.head_dim).transpose(1, 2)
            v = v.reshape(b, t, -1, c.head_dim).transpose(1, 2)
            q = rotate(rms_norm(q, w("self_attn.q_norm") * c.head_dim**-0.5, c.rms_norm_eps), cos, sin)
            k = rotate(rms_norm(k, w("self_attn.k_norm"), c.rms_norm_eps), cos, sin)
            outs = []
            for j, mask in enumerate(masks):
                start, end = j * block, (j + 1) * block
                # The query heads of one key head stand below each other, so keys are never repeated.
                part = q[:, :, start:end].reshape(b, c.num_key_value_heads, groups * block, c.head_dim)
                scores = part @ k[:, :, :end].transpose(2, 3)
                scores = scores.view(b, -1, block, end) + mask
                weights = scores.softmax(-1).view(b, c.num_key_value_heads, groups * block, end)
                outs.append((weights @ v[:, :, :end]).view(b, -1, block, c.head_dim))
            out = torch.cat(outs, 2).transpose(1, 2).reshape(b, t, -1)
            if wanted is not None and i == c.num_hidden_layers - 1:
                x, out = x[wanted], out[wanted]
            x = x + out @ w("self_attn.o_proj").T
            h = rms_norm(x, w("post_attention_layernorm"), c.rms_norm_eps)
            gate, up = (h @ torch.cat([w("mlp.gate_proj"), w("mlp.up_proj")]).T).chunk(2, -1)
            x = x + (F.silu(gate) * up) @ w("mlp.down_proj").T
        return rms_norm(x, self.weight("model.norm.weight"), c.rms_norm_eps)


def start_with_copying(model, seed=0, lags=2):
    """Starts heads as copying circuits, which a model of this size otherwise spends most of its training to find: layer 0
    attends to the last tokens, one head for each of `lags` (a phase shift of the rotary embedding on a direction that
    all embeddings share), layer 1 to what followed the present token before, layer 2 to what followed the present two,
    and with three lags the present three; all copy what they find. Everything is trained from there. Source of the
    circuit: Olsson et al. 2022, "In-context learning and induction heads"."""
    c = model.config
    g = torch.Generator().manual_seed(seed + 1)
    half, d = c.head_dim // 2, c.hidden_size
    groups = c.num_attention_heads // c.num_key_value_heads

    def orthonormal(rows, columns):
        return torch.linalg.qr(torch.randn(max(rows, columns), min(rows, columns), generator=g))[0].T[:rows]

    # Dimensions that turn by a radian and more per token, and those that hardly turn over a prompt.
    fast = [i for i in range(half) if c.rope_theta ** (-i / half) > 0.2]
    slow = [i for i in range(half) if c.rope_theta ** (-i / half) < 1.5e-3]
    free = slow + [half + i for i in slow]
    rank = min(len(free), (d - 1) // (2 * lags - 1))
    # Separate rooms in the hidden state: what all tokens share, copies of earlier tokens, the token itself.
    common, *copies, own = orthonormal(d, d).split([1] + [rank] * lags + [d - 1 - lags * rank])
    common, content = common[0], own[:rank]

    def at_lag(lag):
        phase = torch.zeros(c.head_dim)
        for i in fast:
            angle = torch.tensor(lag * c.rope_theta ** (-i / half))
            phase[i], phase[half + i] = angle.cos(), angle.sin()
        return phase

    def placed(rows):
        matrix = torch.zeros(c.head_dim, d)
        matrix[free[: len(rows)]] = rows
        return matrix

    with torch.no_grad():
        layer = lambda i, name: model.weight(f"model.layers.{i}.{name}.weight")
        head = lambda i: slice(i * c.head_dim, (i + 1) * c.head_dim)
        embedding = model.weight("model.embed_tokens.weight")
        embedding.copy_(embedding @ own.T @ own * (d / len(own)) ** 0.5 + 0.5 * common)
        for i in range(c.num_hidden_layers):
            layer(i, "mlp.down_proj").mul_(0.1)
            layer(i, "self_attn.o_proj").mul_(0.1)
        for name in ("q_norm", "k_norm"):
            for i in fast:
                layer(0, f"self_attn.{name}")[[i, half + i]] = 2.0
            for i in (1, 2):
                layer(i, f"self_attn.{name}")[free] = 1.5
        # Keys of lag 0 meet queries that were turned back by some positions.
        values = torch.zeros(c.head_dim, d)
        values[:rank] = content
        for query, target in enumerate(copies):
            layer(0, "self_attn.k_proj")[head(query // groups)] = torch.outer(at_lag(0), common)
            layer(0, "self_attn.v_proj")[head(query // groups)] = values
            layer(0, "self_attn.q_proj")[head(query)] = torch.outer(at_lag(-1 - query), common)
            layer(0, "self_attn.o_proj")[:, head(query)] = 0
            layer(0, "self_attn.o_proj")[:, query * c.head_dim : query * c.head_dim + rank] = 0.12 * target.T
        # The present tokens as a query, and what preceded a place as its key.
        now = [content, *copies]
        for i, query, length in [(1, 0, 1), (2, 0, 2), (2, groups, 3)][: lags]:
            parts = [orthonormal(min(rank, len(free) // length), rank) for _ in range(length)]
            mixed = lambda rooms: placed(torch.cat([part @ room for part, room in zip(parts, rooms)]))
            layer(i, "self_attn.q_proj")[head(query)] = 3 * mixed(now[:length])
            layer(i, "self_attn.k_proj")[head(query // groups)] = 3 * mixed(copies[:length])
            copied = own[: c.head_dim]
            value = query // groups * c.head_dim
            layer(i, "self_attn.v_proj")[value : value + len(copied)] = copied
            layer(i, "self_attn.o_proj")[:, head(query)] = 0
            layer(i, "self_attn.o_proj")[:, query * c.head_dim : query * c.head_dim + len(copied)] = 0.2 * copied.T


def causal_mask(segments, start, end):
    """Additive mask [B, 1, end - start, end] of the queries of [start, end): a token sees earlier tokens of its own
    sequence. `segments` [B, T]; 0 is padding."""
    same = segments[:, start:end, None] == segments[:, None, :end]
    order = torch.ones(end, end, dtype=torch.bool, device=segments.device).tril()[start:]
    return torch.where(same & order, 0.0, -1e30)[:, None]


def save_safetensors(path, tensors, dtype="F32"):
    """`tensors`: name -> torch tensor. F16 halves the file; values are rounded to nearest."""
    header, chunks, offset = {}, [], 0
    for name, tensor in tensors.items():
        data = tensor.detach().cpu().numpy().astype(np.float16 if dtype == "F16" else np.float32).tobytes()
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [offset, offset + len(data)]}
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))
