/** Opening whole checkpoints: what is accepted, and that every refusal names the source and the tensor or file. */
import { describe, expect, it } from "vitest";
import { type ModelConfig, parseConfig } from "./config";
import { decodeTensor, encodeTensor } from "./dtype";
import { openCheckpoint } from "./load";
import { randomCheckpoint, randomCheckpointFiles } from "./randomCheckpoint";
import { readSafetensorsHeader, type SafetensorsTensor, writeSafetensors } from "./safetensors";
import { memorySource } from "./sources";

const config: ModelConfig = parseConfig({
  model_type: "qwen3",
  vocab_size: 11,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 6,
  tie_word_embeddings: true,
  eos_token_id: 3,
});
const untied: ModelConfig = { ...config, tieWordEmbeddings: false };

type Files = Record<string, Uint8Array<ArrayBuffer>>;
const open = (files: Files) => openCheckpoint(memorySource(files, "the model"));

/** The single weight file with its tensors changed. */
async function edited(files: Files, edit: (tensors: SafetensorsTensor[]) => SafetensorsTensor[]): Promise<Files> {
  const file = files["model.safetensors"] as Uint8Array;
  const entries = await readSafetensorsHeader(memorySource(files), "model.safetensors");
  const tensors = entries.map(({ start, end, ...rest }) => ({ ...rest, bytes: file.slice(start, end) }));
  return { ...files, "model.safetensors": writeSafetensors(edit(tensors)) };
}

describe("openCheckpoint", () => {
  it("opens what randomCheckpoint writes, of every architecture, format and sharding", async () => {
    const qwen2: ModelConfig = { ...config, modelType: "qwen2", qkvBias: true, qkNorm: false };
    const llama: ModelConfig = { ...untied, modelType: "llama", qkvBias: true, oBias: true, qkNorm: false };
    const mistral: ModelConfig = { ...untied, modelType: "mistral", qkNorm: false };
    for (const written of [config, untied, qwen2, llama, mistral]) {
      for (const dtype of ["F32", "BF16", "F16"] as const) {
        for (const shards of [1, 3]) {
          const checkpoint = await openCheckpoint(randomCheckpoint(written, { dtype, shards }));
          expect(checkpoint.config).toEqual(written);
          const norm = checkpoint.tensors.get("model.layers.1.input_layernorm.weight");
          expect(norm).toMatchObject({ dtype, shape: [8] });
        }
      }
    }
  });

  it("reads the same values from one file, from shards and from rounded formats", async () => {
    const name = "model.layers.1.self_attn.q_norm.weight";
    const values = async (options: Parameters<typeof randomCheckpoint>[1]) => {
      const tensor = (await openCheckpoint(randomCheckpoint(config, options))).tensors.get(name);
      return decodeTensor(tensor?.dtype ?? "F32", (await tensor?.read()) as Uint8Array);
    };
    const single = await values({});
    expect(single).toHaveLength(6);
    expect(await values({ shards: 4 })).toEqual(single);
    expect(await values({ seed: 1 })).not.toEqual(single);
    const bf16 = await values({ dtype: "BF16" });
    const f16 = await values({ dtype: "F16" });
    for (let i = 0; i < 6; i++) {
      expect(Math.abs((bf16[i] as number) / (single[i] as number) - 1)).toBeLessThan(2 ** -8);
      expect(Math.abs((f16[i] as number) / (single[i] as number) - 1)).toBeLessThan(2 ** -11);
    }
  });

  it("hands out aligned bytes even from a file that does not align its tensors", async () => {
    const files = await edited(randomCheckpointFiles(config), (tensors) =>
      tensors.map((tensor, i) =>
        i === 1
          ? { ...tensor, dtype: "F16", bytes: encodeTensor("F16", new Array(tensor.bytes.length / 4).fill(1)) }
          : tensor,
      ),
    );
    for (const tensor of (await open(files)).tensors.values()) {
      expect((await tensor.read()).byteOffset % 4).toBe(0);
    }
  });

  it("refuses infinities and NaNs by tensor and place, as an overflow in f16 leaves them", async () => {
    for (const dtype of ["F16", "BF16", "F32"] as const) {
      const files = await edited(randomCheckpointFiles(config, { dtype }), (tensors) =>
        tensors.map((tensor) => {
          if (!tensor.name.endsWith("layers.1.mlp.up_proj.weight")) return tensor;
          const bytes = tensor.bytes.slice();
          bytes.set(encodeTensor(dtype, [Number.NEGATIVE_INFINITY]), 3 * (dtype === "F32" ? 4 : 2));
          return { ...tensor, bytes };
        }),
      );
      const { tensors } = await open(files);
      const name = "model.layers.1.mlp.up_proj.weight";
      await expect(tensors.get(name)?.read()).rejects.toThrow(
        `the model: model.safetensors: tensor "${name}" is damaged: value 3 is infinite or not a number`,
      );
      await tensors.get("model.norm.weight")?.read();
    }
  });

  it("names all missing, unused and misshapen tensors at once", async () => {
    const files = await edited(randomCheckpointFiles(config), (tensors) => [
      ...tensors.filter(({ name }) => !/layers\.1\.mlp\.(up|down)_proj/.test(name)),
      { name: "score.weight", dtype: "F32", shape: [1], bytes: new Uint8Array(4) },
      { name: "model.layers.2.mlp.up_proj.weight", dtype: "F32", shape: [12, 8], bytes: new Uint8Array(384) },
    ]);
    const message = await open(files).catch(String);
    expect(message).toBe(
      "CheckpointError: the model: does not fit its qwen3 configuration: " +
        "missing tensors: model.layers.1.mlp.up_proj.weight, model.layers.1.mlp.down_proj.weight; " +
        "unused tensors: score.weight, model.layers.2.mlp.up_proj.weight",
    );
    const named = Array.from({ length: 50_000 }, (_, i) => [`extra.${i}`, "model-00001-of-00001.safetensors"]);
    const long = await open({
      ...Object.fromEntries(
        Object.entries(randomCheckpointFiles(config, { shards: 1 })).filter(([name]) => name === "config.json"),
      ),
      "model.safetensors.index.json": new TextEncoder().encode(
        JSON.stringify({ weight_map: Object.fromEntries(named) }),
      ),
      "model-00001-of-00001.safetensors": writeSafetensors([]),
    }).catch(String);
    expect(long).toContain('"extra.0" in model-00001-of-00001.safetensors');
    expect(long).toContain("and 49980 more");
    const transposed = await edited(randomCheckpointFiles(config), (tensors) =>
      tensors.map((tensor) => ({ ...tensor, shape: [...tensor.shape].reverse() })),
    );
    const shapes = await open(transposed).catch(String);
    expect(shapes).toContain("model.embed_tokens.weight is [8, 11] instead of [11, 8]");
    expect(shapes).toContain("model.layers.1.self_attn.k_proj.weight is [8, 12] instead of [12, 8]");
    expect(shapes).not.toContain("input_layernorm");
  });

  it("refuses a bias where the architecture has none, and the lack of a head", async () => {
    const files = randomCheckpointFiles({ ...config, modelType: "qwen2", qkvBias: true, qkNorm: false });
    const asLlama = {
      ...files,
      "config.json": randomCheckpointFiles({ ...config, modelType: "llama", qkNorm: false })[
        "config.json"
      ] as Uint8Array<ArrayBuffer>,
    };
    await expect(open(asLlama)).rejects.toThrow("unused tensors: model.layers.0.self_attn.q_proj.bias");
    const headless = {
      ...randomCheckpointFiles(config),
      "config.json": randomCheckpointFiles(untied)["config.json"] as Uint8Array<ArrayBuffer>,
    };
    await expect(open(headless)).rejects.toThrow("missing tensors: lm_head.weight");
  });

  it("ignores rotary buffers and a copy of the tied embedding", async () => {
    const files = await edited(randomCheckpointFiles(config), (tensors) => [
      ...tensors,
      {
        ...(tensors.find(({ name }) => name === "model.embed_tokens.weight") as SafetensorsTensor),
        name: "lm_head.weight",
      },
      { name: "model.layers.0.self_attn.rotary_emb.inv_freq", dtype: "F32", shape: [3], bytes: new Uint8Array(12) },
    ]);
    const { tensors } = await open(files);
    expect(tensors.has("lm_head.weight")).toBe(false);
    expect(tensors.has("model.layers.0.self_attn.rotary_emb.inv_freq")).toBe(false);
  });

  it("refuses a tied head that is another matrix or has another shape", async () => {
    const head = (shape: number[], bytes: Uint8Array): SafetensorsTensor => ({
      name: "lm_head.weight",
      dtype: "F32",
      shape,
      bytes,
    });
    const files = randomCheckpointFiles(config);
    const other = await edited(files, (tensors) => [...tensors, head([11, 8], new Uint8Array(352))]);
    await expect(open(other)).rejects.toThrow("lm_head.weight differs from model.embed_tokens.weight");
    const narrow = await edited(files, (tensors) => [...tensors, head([11, 4], new Uint8Array(176))]);
    await expect(open(narrow)).rejects.toThrow("lm_head.weight is [11, 4] instead of [11, 8]");
  });

  it("names missing and broken files", async () => {
    const { "config.json": json, "model.safetensors": weights } = randomCheckpointFiles(config) as Required<Files>;
    const bytes = (text: string) => new TextEncoder().encode(text);
    const refusals: [Files, string][] = [
      [{ "model.safetensors": weights as Uint8Array<ArrayBuffer> }, "the model: config.json is missing"],
      [
        { "config.json": json as Uint8Array<ArrayBuffer> },
        "the model: neither model.safetensors nor model.safetensors.index.json is there",
      ],
      [{ "config.json": bytes("{") }, "the model: config.json: not valid JSON"],
      [{ "config.json": bytes('{"model_type":"bert"}') }, 'the model: config.json: field "model_type" is "bert"'],
      [
        {
          "config.json": json as Uint8Array<ArrayBuffer>,
          "model.safetensors": (weights as Uint8Array<ArrayBuffer>).slice(0, -1),
        },
        'the model: model.safetensors: truncated: tensor "model.norm.weight"',
      ],
    ];
    for (const [files, message] of refusals) {
      await expect(open(files)).rejects.toThrow(message);
    }
  });

  it("checks an index against its shards", async () => {
    const files = randomCheckpointFiles(config, { shards: 2 });
    const index = JSON.parse(new TextDecoder().decode(files["model.safetensors.index.json"]));
    const withMap = (map: Record<string, unknown>): Files => ({
      ...files,
      "model.safetensors.index.json": new TextEncoder().encode(JSON.stringify({ weight_map: map })),
    });
    const shard = "model-00001-of-00002.safetensors";
    const { [shard]: _, ...withoutShard } = files;
    await expect(open(withoutShard)).rejects.toThrow(`the model: ${shard} is missing`);
    const { "model.embed_tokens.weight": __, ...fewer } = index.weight_map;
    await expect(open(withMap(fewer))).rejects.toThrow(
      `${shard}: holds tensor "model.embed_tokens.weight", which model.safetensors.index.json lists not at all`,
    );
    await expect(open(withMap({ ...index.weight_map, ghost: shard }))).rejects.toThrow(`"ghost" in ${shard}`);
    await expect(open(withMap({ ...index.weight_map, ghost: "../x.safetensors" }))).rejects.toThrow("plain shard name");
    await expect(open(withMap({ ghost: 3 }))).rejects.toThrow('field "weight_map.ghost"');
  });

  it("stops when the signal says so", async () => {
    await expect(openCheckpoint(randomCheckpoint(config), AbortSignal.abort())).rejects.toThrow(/abort/i);
    const tensor = (await openCheckpoint(randomCheckpoint(config))).tensors.get("model.norm.weight");
    await expect(tensor?.read(AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
});
