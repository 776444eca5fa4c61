"""Writes small checkpoints of each architecture with what PyTorch computes on them, in f64, for tests/golden.

usage: python3 pretrain/golden.py tests/golden
The network here is written on its own, from the architectures' definitions (not model.py, which knows only Qwen3 and is
built for speed), so that it can find mistakes in the project's other decoders. Links are written to tests/golden/links.
"""
import json
import os
import sys

import torch
import torch.nn.functional as F

from model import save_safetensors

ARCHITECTURES = {
    "qwen2": dict(heads=6, kv_heads=2, head_dim=4, tied=False, qkv_bias=True, qk_norm=False),
    "qwen3": dict(heads=5, kv_heads=1, head_dim=8, tied=True, qkv_bias=False, qk_norm=True),
    "llama": dict(heads=4, kv_heads=4, head_dim=6, tied=False, qkv_bias=False, qk_norm=False),
}
STEPS, STEP = 10, dict(lr=3e-3, betas=(0.9, 0.95), eps=1e-8, decay=0.1, norm=1.0)
HIDDEN, INNER, VOCAB, LAYERS, THETA, EPS, LENGTH = 24, 37, 53, 2, 5000.0, 1e-5, 13


def make(spec, generator):
    random = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64).float()
    q, kv = spec["heads"] * spec["head_dim"], spec["kv_heads"] * spec["head_dim"]
    weights = {"model.embed_tokens.weight": random(VOCAB, HIDDEN) * 0.5}
    for i in range(LAYERS):
        p = f"model.layers.{i}."
        for name, rows, columns in [
            ("self_attn.q_proj", q, HIDDEN),
            ("self_attn.k_proj", kv, HIDDEN),
            ("self_attn.v_proj", kv, HIDDEN),
            ("self_attn.o_proj", HIDDEN, q),
            ("mlp.gate_proj", INNER, HIDDEN),
            ("mlp.up_proj", INNER, HIDDEN),
            ("mlp.down_proj", HIDDEN, INNER),
        ]:
            weights[p + name + ".weight"] = random(rows, columns) * columns**-0.5
            if spec["qkv_bias"] and name[-6:] in ("q_proj", "k_proj", "v_proj"):
                weights[p + name + ".bias"] = random(rows) * 0.3
        if spec["qk_norm"]:
            weights[p + "self_attn.q_norm.weight"] = 1 + 0.2 * random(spec["head_dim"])
            weights[p + "self_attn.k_norm.weight"] = 1 + 0.2 * random(spec["head_dim"])
        weights[p + "input_layernorm.weight"] = 1 + 0.2 * random(HIDDEN)
        weights[p + "post_attention_layernorm.weight"] = 1 + 0.2 * random(HIDDEN)
    weights["model.norm.weight"] = 1 + 0.2 * random(HIDDEN)
    if not spec["tied"]:
        weights["lm_head.weight"] = random(VOCAB, HIDDEN) * 0.3
    return weights


def norm(x, weight):
    return weight * x / (x.square().mean(-1, keepdim=True) + EPS).sqrt()


def turn(x):
    """Rotary embedding of [T, heads, head_dim]: element i and i + half are a complex number that turns with t."""
    half = x.shape[-1] // 2
    angle = torch.outer(torch.arange(len(x)), THETA ** (-torch.arange(half) / half)).double()
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angle), angle)[:, None]
    return torch.cat([z.real, z.imag], -1)


def forward(w, spec, ids, embeddings=None):
    """Hidden state after the final norm [T, HIDDEN] and logits [T, VOCAB]."""
    x = w["model.embed_tokens.weight"][ids] if embeddings is None else embeddings
    t = len(ids)
    for i in range(LAYERS):
        part = lambda name: w.get(f"model.layers.{i}.{name}")
        linear = lambda x, name: F.linear(x, part(name + ".weight"), part(name + ".bias"))
        h = norm(x, part("input_layernorm.weight"))
        q = linear(h, "self_attn.q_proj").view(t, spec["heads"], -1)
        k = linear(h, "self_attn.k_proj").view(t, spec["kv_heads"], -1)
        v = linear(h, "self_attn.v_proj").view(t, spec["kv_heads"], -1)
        if spec["qk_norm"]:
            q, k = norm(q, part("self_attn.q_norm.weight")), norm(k, part("self_attn.k_norm.weight"))
        q, k = turn(q), turn(k)
        repeat = spec["heads"] // spec["kv_heads"]
        k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        scores = torch.einsum("qhd,khd->hqk", q, k) / spec["head_dim"] ** 0.5
        scores = scores.masked_fill(torch.ones(t, t).triu(1).bool(), -torch.inf)
        x = x + linear(torch.einsum("hqk,khd->qhd", scores.softmax(-1), v).reshape(t, -1), "self_attn.o_proj")
        h = norm(x, part("post_attention_layernorm.weight"))
        x = x + linear(F.silu(linear(h, "mlp.gate_proj")) * linear(h, "mlp.up_proj"), "mlp.down_proj")
    x = norm(x, w["model.norm.weight"])
    return x, x @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T


def loss_of(w, spec, batch, lengths, weights, embeddings=None):
    """Weighted mean over the tokens of all sequences of the cross-entropy with the next token."""
    total = 0
    for ids, mask, row in zip(batch.split(lengths), weights.split(lengths), range(len(lengths))):
        _, logits = forward(w, spec, ids[:-1], None if embeddings is None else embeddings[row])
        total = total + (F.cross_entropy(logits, ids[1:], reduction="none") * mask[1:]).sum()
    return total / sum(mask[1:].sum() for mask in weights.split(lengths))


def training(weights, spec, generator):
    """What tests compare training with: a ragged batch, its loss, all gradients, and the losses of some AdamW steps."""
    lengths = [7, 2, LENGTH]
    batch = torch.randint(0, VOCAB, (sum(lengths),), generator=generator)
    mask = (torch.rand(sum(lengths), generator=generator) < 0.7).double()
    # The last token of a sequence always counts, so that none is empty.
    mask[torch.tensor(lengths).cumsum(0) - 1] = 1
    golden = {"train.ids": batch, "train.lengths": torch.tensor(lengths), "train.mask": mask}

    w = {name: value.double().requires_grad_() for name, value in weights.items()}
    embeddings = [w["model.embed_tokens.weight"][ids[:-1]] for ids in batch.split(lengths)]
    for rows in embeddings:
        rows.retain_grad()
    loss = loss_of(w, spec, batch, lengths, mask, embeddings)
    loss.backward()
    golden["train.loss"] = loss.reshape(1)
    golden["train.d_embeddings"] = torch.cat([rows.grad for rows in embeddings])
    for name, value in w.items():
        golden["grad." + name] = value.grad

    w = {name: value.double().requires_grad_() for name, value in weights.items()}
    optimizer = torch.optim.AdamW(w.values(), lr=STEP["lr"], betas=STEP["betas"], eps=STEP["eps"], weight_decay=STEP["decay"])
    losses, norms = [], []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(w, spec, batch, lengths, mask)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(w.values(), STEP["norm"]))
        optimizer.step()
        losses.append(loss.detach())
    golden["train.losses"], golden["train.norms"] = torch.stack(losses), torch.stack(norms)
    return golden


class Link(torch.nn.Module):
    """A RecursiveLink, from its formulas and with the parameter names of the released checkpoints."""

    def __init__(self, kind, form, size, out, scaled):
        super().__init__()
        released, bias, linear = form == "released", form != "paper", torch.nn.Linear
        hidden = 2 * out if kind == "outer" and released else out
        self.proj1, self.proj2 = linear(size, hidden, bias), linear(hidden, out, bias)
        if kind == "outer":
            self.residual_proj = linear(size, out, bias)
        self.norms = {"inner": ["pre_ln", "post_ln"], "outer": ["ln_source", "ln_target"]}[kind] if released else None
        if released:
            for name, width in zip(self.norms, [size, out]):
                self.add_module(name, torch.nn.LayerNorm(width))
        if scaled:
            self.output_scale = torch.nn.Parameter(torch.tensor([0.4]))

    def forward(self, h):
        norm = lambda x, i: getattr(self, self.norms[i])(x) if self.norms else x
        shortcut = self.residual_proj(h) if hasattr(self, "residual_proj") else h
        y = norm(shortcut + self.proj2(F.gelu(self.proj1(norm(h, 0)))), 1)
        return y * self.output_scale if hasattr(self, "output_scale") else y


LINKS = {
    "innerPaper": ("inner", "paper", 24, 24, False),
    "innerReleased": ("inner", "released", 33, 33, True),
    "outerPaper": ("outer", "paper", 24, 17, True),
    "outerReleased": ("outer", "released", 17, 26, False),
    "outer2layerRes": ("outer", "2layerRes", 9, 14, True),
}


def link_golden(index, spec):
    """A link, its outputs, the loss 1 - cosine + 0.1 mean square to targets, all gradients, and AdamW's losses."""
    kind, form, size, out, _ = spec
    torch.manual_seed(index)
    link = Link(*spec).double()
    random = lambda *shape: torch.randn(*shape, dtype=torch.float64)
    with torch.no_grad():
        for name, value in link.named_parameters():
            if "ln" in name:
                value += 0.2 * random(*value.shape)
            value.copy_(value.float().double())
    hidden = (2 * random(11, size)).float().double().requires_grad_()
    target = (0.4 * random(11, out)).float().double()
    golden = {"link." + name: value.detach().clone() for name, value in link.named_parameters()}
    golden["hidden"], golden["target"] = hidden.detach(), target

    def loss_of():
        output = link(hidden)
        return output, (1 - F.cosine_similarity(output, target, -1)).mean() + 0.1 * (output - target).square().mean()

    output, loss = loss_of()
    loss.backward()
    golden["output"], golden["loss"], golden["d_hidden"] = output, loss.reshape(1), hidden.grad.clone()
    for name, value in link.named_parameters():
        golden["grad." + name] = value.grad.clone()
    settings = dict(lr=STEP["lr"], betas=STEP["betas"], eps=STEP["eps"], weight_decay=0)
    optimizer = torch.optim.AdamW(link.parameters(), **settings)
    losses, norms = [], []
    for _ in range(STEPS):
        optimizer.zero_grad()
        _, loss = loss_of()
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(link.parameters(), STEP["norm"]))
        optimizer.step()
        losses.append(loss.detach())
    golden["losses"], golden["norms"] = torch.stack(losses), torch.stack(norms)
    return golden


def main():
    os.makedirs(os.path.join(sys.argv[1], "links"), exist_ok=True)
    for index, (name, spec) in enumerate(LINKS.items()):
        file = os.path.join(sys.argv[1], "links", name + ".safetensors")
        save_safetensors(file, {name: value.detach() for name, value in link_golden(index, spec).items()})
    for index, (model_type, spec) in enumerate(ARCHITECTURES.items()):
        folder = os.path.join(sys.argv[1], model_type)
        os.makedirs(folder, exist_ok=True)
        generator = torch.Generator().manual_seed(index)
        weights = make(spec, generator)
        ids = torch.randint(0, VOCAB, (LENGTH,), generator=generator)
        hidden, logits = forward({name: value.double() for name, value in weights.items()}, spec, ids)
        save_safetensors(os.path.join(folder, "model.safetensors"), weights)
        save_safetensors(os.path.join(folder, "golden.safetensors"), {"ids": ids, "hidden": hidden, "logits": logits})
        save_safetensors(os.path.join(folder, "training.safetensors"), training(weights, spec, generator))
        config = {
            "model_type": model_type,
            "vocab_size": VOCAB,
            "hidden_size": HIDDEN,
            "intermediate_size": INNER,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": spec["heads"],
            "num_key_value_heads": spec["kv_heads"],
            "head_dim": spec["head_dim"],
            "rope_theta": THETA,
            "rms_norm_eps": EPS,
            "tie_word_embeddings": spec["tied"],
            "hidden_act": "silu",
            "max_position_embeddings": 64,
            "eos_token_id": 0,
        }
        with open(os.path.join(folder, "config.json"), "w") as file:
            file.write(json.dumps(config, indent=2) + "\n")


main()
