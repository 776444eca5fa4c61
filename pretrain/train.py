"""Trains an agent on rows written by data.ts. CPU or CUDA; resumes from its last checkpoint.

usage: python3 train.py --data FILE --tokenizer DIR --out DIR [--minutes M] [--hidden 128] ... (see --help)
Hidden matrices are trained by Muon (momentum, orthogonalised by Newton-Schulz: Jordan et al. 2024), the rest by AdamW.
Warm-up, constant rate, and a linear decay over the last part of the rows, so that a run can be prolonged.
"""
import argparse
import json
import math
import os
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch.nn.functional as F

from model import Config, Decoder, save_safetensors, start_with_copying


def parse():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--data", required=True, nargs="+")
    p.add_argument("--tokenizer", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--batch", type=int, default=12)
    p.add_argument("--workers", type=int, default=0, help="processes that share a batch; 0: one per core, or one on CUDA")
    p.add_argument("--steps", type=int, default=0, help="stop after so many steps; 0: once through the data")
    p.add_argument("--until", type=int, default=0, help="end after this step and keep the schedule, to go on with other data")
    p.add_argument("--decay", type=float, default=0.2, help="share of the steps over which the rate falls to zero")
    p.add_argument("--hidden", type=int, default=128)
    p.add_argument("--intermediate", type=int, default=256)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--kv-heads", type=int, default=2)
    p.add_argument("--head-dim", type=int, default=64)
    p.add_argument("--muon-lr", type=float, default=0.012)
    p.add_argument("--adam-lr", type=float, default=3e-3)
    p.add_argument("--repeats", type=float, default=0.3, help="weight of names that come again in what is read")
    p.add_argument("--warmup", type=int, default=60)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument(
        "--noise", type=float, default=0, help="normal noise on the embeddings of messages, up to this share of their norm"
    )
    p.add_argument("--lags", type=int, default=2, help="how many of the last tokens the copying circuits compare: 2 or 3")
    p.add_argument("--plain-start", action="store_true", help="random weights only, without copying circuits")
    p.add_argument("--save-every", type=float, default=180, help="seconds between checkpoints")
    return p.parse_args()


class Rows:
    def __init__(self, paths):
        self.parts = []
        for path in paths:
            head = np.fromfile(path, np.uint8, 12)
            assert head[:4].tobytes() == b"TWIN", f"{path} is not a file of data.ts"
            rows, self.length = (int(n) for n in head[4:].view(np.uint32))
            self.parts.append(np.memmap(path, np.uint8, "r", 12, (rows, self.length * 3)))
        self.total = sum(len(part) for part in self.parts)

    def batch(self, start, count):
        rows = []
        for index in range(start, start + count):
            index %= self.total
            for part in self.parts:
                if index < len(part):
                    rows.append(part[index])
                    break
                index -= len(part)
        raw = np.stack(rows)
        ids = np.ascontiguousarray(raw[:, : self.length * 2]).view(np.uint16).astype(np.int64)
        flags = raw[:, self.length * 2 :]
        segments, learn, message = flags >> 1 & 63, (flags & 1).astype(bool), flags >> 7 > 0
        again = self.repeats(ids, segments) & ~learn
        return tuple(torch.from_numpy(x) for x in (ids, segments, learn, again, message))

    def repeats(self, ids, segments):
        """Tokens that followed the same token earlier in their sequence: names that come again. Learning to foresee them
        inside the documents teaches to copy long before the answers do."""
        keys = (ids[:, 1:] << 20) + (ids[:, :-1] << 7) + segments[:, 1:]
        again = np.ones(ids.shape, bool)
        for row, key in zip(again, keys):
            row[1 + np.unique(key, return_index=True)[1]] = False
        again[:, 0] = False
        return again & (segments > 0)


class Meter:
    """How often whole utterances are right under teacher forcing, by kind. The kind of an utterance is that of the first
    mark that it holds; quotes and notes hold none."""

    MARKS = {"<think>": "system2", "\u0120nothing": "nothing", "\u0120unknown": "unknown", "\u0120answer": "answer"}

    def __init__(self, vocabulary):
        self.marks = [(vocabulary[mark], kind) for mark, kind in self.MARKS.items() if mark in vocabulary]
        self.kinds = ["plain"] + [kind for _, kind in self.marks]
        self.reset()

    def reset(self):
        self.loss, self.steps = 0.0, 0
        self.right = dict.fromkeys(self.kinds, 0)
        self.seen = dict.fromkeys(self.kinds, 0)

    def add(self, loss, logits, ids, learn):
        self.loss += loss
        self.steps += 1
        first = learn.clone()
        first[:, 1:] &= ~learn[:, :-1]
        target, first = ids[learn], first[learn]
        utterance = first.cumsum(0) - 1
        total = lambda flags: torch.zeros(int(utterance[-1]) + 1, device=ids.device).index_add_(0, utterance, flags.float())
        right = total(logits.argmax(-1) != target) == 0
        left = torch.ones_like(right)
        for mark, kind in self.marks:
            self.count(kind, left & (total(target == mark) > 0), right)
            left &= total(target == mark) == 0
        self.count("plain", left, right)

    def count(self, kind, mine, right):
        self.seen[kind] += int(mine.sum())
        self.right[kind] += int(right[mine].sum())

    def report(self):
        line = {"loss": round(self.loss / max(1, self.steps), 4)}
        line.update({kind: round(self.right[kind] / self.seen[kind], 3) for kind in self.kinds if self.seen[kind]})
        self.reset()
        return line


def orthogonalize(matrix):
    """Newton-Schulz iteration to the nearest semi-orthogonal matrix."""
    x = matrix / (matrix.norm() + 1e-7)
    flipped = x.shape[0] > x.shape[1]
    if flipped:
        x = x.T
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.T if flipped else x


class Optimizer:
    """Muon for the layers' matrices, AdamW without weight decay for embeddings and norms. Workers share the work:
    gradients are averaged, and each orthogonalises its part of the matrices."""

    def __init__(self, model, args, rank, workers):
        self.args, self.rank, self.workers = args, rank, workers
        self.parameters = list(model.parameters())
        self.matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
        self.momenta = [torch.zeros_like(p) for p in self.matrices]
        rest = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
        self.adam = torch.optim.AdamW(rest, lr=args.adam_lr, betas=(0.9, 0.95), eps=1e-10, weight_decay=0)

    def share(self, tensors, average):
        if self.workers == 1:
            return
        flat = torch.cat([t.reshape(-1) for t in tensors])
        dist.all_reduce(flat)
        for t, part in zip(tensors, flat.split([t.numel() for t in tensors])):
            t.copy_(part.view_as(t) / (self.workers if average else 1))

    @torch.no_grad()
    def step(self, scale):
        self.share([p.grad for p in self.parameters], average=True)
        for group in self.adam.param_groups:
            group["lr"] = self.args.adam_lr * scale
        self.adam.step()
        updates = []
        for i, (p, momentum) in enumerate(zip(self.matrices, self.momenta)):
            momentum.mul_(0.95).add_(p.grad)
            mine = i % self.workers == self.rank
            updates.append(orthogonalize(p.grad + 0.95 * momentum) if mine else torch.zeros_like(p))
        self.share(updates, average=False)
        rate = self.args.muon_lr * scale
        for p, update in zip(self.matrices, updates):
            p.mul_(1 - 0.01 * rate).add_(update, alpha=-rate * max(1, p.shape[0] / p.shape[1]) ** 0.5)

    def state(self):
        return {"momenta": self.momenta, "adam": self.adam.state_dict()}

    def load(self, state):
        for mine, saved in zip(self.momenta, state["momenta"]):
            mine.copy_(saved)
        self.adam.load_state_dict(state["adam"])


def message_noise(message, embedding, most):
    """Noise [B, T, hidden] on the tokens of messages, of a random strength a row, none in half of the rows: latent
    thoughts come near the embeddings of words and never quite there."""
    strength = most * (2 * torch.rand(len(message), 1, device=message.device) - 1).clamp(min=0)
    size = embedding.detach().pow(2).mean().sqrt()
    return (strength * message)[..., None] * size * torch.randn(*message.shape, embedding.shape[1], device=message.device)


def work(rank, workers, args):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if workers > 1:
        # One thread a process: far less waiting than one process with many threads, above all on a busy machine.
        torch.set_num_threads(1)
        rendezvous = f"file://{os.path.abspath(args.out)}/rendezvous"
        dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=workers)
    with open(os.path.join(args.tokenizer, "tokenizer.json")) as file:
        tokenizer = json.load(file)
    vocab = len(tokenizer["model"]["vocab"]) + len(tokenizer["added_tokens"])
    config = Config(
        vocab_size=vocab,
        hidden_size=args.hidden,
        intermediate_size=args.intermediate,
        num_hidden_layers=args.layers,
        num_attention_heads=args.heads,
        num_key_value_heads=args.kv_heads,
        head_dim=args.head_dim,
    )
    model = Decoder(config, args.seed)
    if not args.plain_start:
        start_with_copying(model, args.seed, args.lags)
    model.to(device)
    optimizer = Optimizer(model, args, rank, workers)
    rows = Rows(args.data)
    steps = args.steps or rows.total // args.batch
    end = min(steps, args.until or steps)
    checkpoint = os.path.join(args.out, "last.pt")
    step = 0
    if os.path.exists(checkpoint):
        state = torch.load(checkpoint, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load(state["optimizer"])
        step = state["step"]
    if rank == 0:
        print(json.dumps({"parameters": sum(model.names.values()), "vocab": vocab, "steps": steps, "from": step}), flush=True)

    def save():
        if rank > 0:
            return
        state = {"model": model.state_dict(), "optimizer": optimizer.state(), "step": step}
        torch.save(state, checkpoint + ".part")
        os.replace(checkpoint + ".part", checkpoint)
        with open(os.path.join(args.out, "shape.json"), "w") as file:
            json.dump(vars(config), file, indent=2)
        tensors = {name: model.weight(name) for name in model.names}
        save_safetensors(os.path.join(args.out, "model.safetensors"), tensors)

    log = open(os.path.join(args.out, "log.jsonl"), "a")
    embedding = model.weight("model.embed_tokens.weight")
    saved = began = time.time()
    share = args.batch // workers
    began_step = step
    vocabulary = dict(tokenizer["model"]["vocab"], **{t["content"]: t["id"] for t in tokenizer["added_tokens"]})
    meter = Meter(vocabulary)
    while step < end:
        ids, segments, learn, again, message = (x.to(device) for x in rows.batch(step * args.batch + rank * share, share))
        target = learn | again
        # A target is predicted from the token before it.
        wanted = torch.cat([target[:, 1:], torch.zeros_like(target[:, :1])], 1)
        noise = message_noise(message, embedding, args.noise) if args.noise > 0 else None
        logits = model(ids, segments, wanted, noise) @ embedding.T
        losses = F.cross_entropy(logits, ids[target], reduction="none")
        said = learn[target]
        loss = losses[said].mean()
        model.zero_grad(set_to_none=True)
        (loss + args.repeats * losses[~said].sum() / said.sum()).backward()
        if not math.isfinite(loss.item()):
            raise SystemExit(f"loss is {loss.item()} at step {step}; the last checkpoint is kept")
        left = (steps - step) / max(1, steps * args.decay)
        optimizer.step(min(1, (step + 1) / args.warmup, left))
        step += 1
        meter.add(loss.item(), logits.detach()[said], ids, learn)
        if rank == 0 and (step % 20 == 0 or step == end):
            seconds = time.time() - began
            rate = (step - began_step) * args.batch * rows.length / seconds
            line = {"step": step, "tokens/s": round(rate), **meter.report()}
            print(json.dumps(line), flush=True)
            log.write(json.dumps(line) + "\n")
            log.flush()
        if time.time() - saved > args.save_every or step == end:
            save()
            saved = time.time()


def main():
    args = parse()
    workers = args.workers or (1 if torch.cuda.is_available() else len(os.sched_getaffinity(0)))
    if args.batch % workers:
        raise SystemExit(f"--batch {args.batch} is not a multiple of the {workers} workers")
    os.makedirs(args.out, exist_ok=True)
    rendezvous = os.path.join(args.out, "rendezvous")
    if os.path.exists(rendezvous):
        os.remove(rendezvous)
    if workers == 1:
        work(0, 1, args)
    else:
        multiprocessing.spawn(work, (workers, args), nprocs=workers)


if __name__ == "__main__":
    main()
