/**
 * A language model whose prompts may hold latent vectors: a marker in the text stands for them. Whatever builds prompts
 * out of text, the dual-system loop for instance, then works with latent messages without knowing of them.
 */
import type { GenerateOptions, GenerateRequest, LanguageModel, SequenceInput } from "../model/languageModel";
import type { ModelTokenizer } from "../text/tokenizer";

/** Of the private use area: no chat format has it, and no guard against control words touches it. */
export const LATENT_MARKER = "\ue0a7";

/**
 * @param messages what each occurrence of LATENT_MARKER in a prompt stands for, in order: [n, hiddenSize] each
 * @returns the model; ids from its vocabulary's size on stand for vectors, so that lengths count them. Its owner stays
 * the caller: `dispose` is the model's own
 */
export function slottedModel(model: LanguageModel, messages: readonly Float32Array[]): LanguageModel {
  const { tokenizer, config } = model;
  const { hiddenSize, vocabSize } = config;
  let next = vocabSize;
  const places = messages.map((vectors) => {
    const first = next;
    next += vectors.length / hiddenSize;
    return Array.from({ length: next - first }, (_, i) => first + i);
  });
  const all = new Float32Array((next - vocabSize) * hiddenSize);
  messages.reduce((start, vectors) => {
    all.set(vectors, start);
    return start + vectors.length;
  }, 0);

  const encode = (text: string): number[] => {
    const pieces = text.split(LATENT_MARKER);
    if (pieces.length - 1 > places.length) {
      throw new RangeError(`a prompt holds ${pieces.length - 1} latent messages, and there are ${places.length}`);
    }
    return pieces.flatMap((piece, i) => [...(i > 0 ? (places[i - 1] as number[]) : []), ...tokenizer.encode(piece)]);
  };
  const slotted: ModelTokenizer = {
    vocabSize: next,
    encode,
    decode: (ids) => tokenizer.decode(Array.from(ids).filter((id) => id < vocabSize)),
    countTokens: (text) => encode(text).length,
    renderChat: (conversation, options) => tokenizer.renderChat(conversation, options),
    detokenizer: () => tokenizer.detokenizer(),
  };

  /** Ids of vectors become vectors, and with them the whole prompt becomes embeddings. */
  const inputOf = async (input: SequenceInput): Promise<SequenceInput> => {
    if (!("ids" in input)) return input;
    const ids = Array.from(input.ids);
    if (ids.every((id) => id < vocabSize)) return input;
    const tokens = ids.filter((id) => id < vocabSize);
    const known = await model.embed(tokens);
    const embeddings = new Float32Array(ids.length * hiddenSize);
    let token = 0;
    ids.forEach((id, row) => {
      const [source, from] = id < vocabSize ? [known, token++] : [all, id - vocabSize];
      embeddings.set(source.subarray(from * hiddenSize, (from + 1) * hiddenSize), row * hiddenSize);
    });
    return { embeddings };
  };

  return {
    id: model.id,
    config,
    tokenizer: slotted,
    capabilities: model.capabilities,
    get liveBytes() {
      return model.liveBytes;
    },
    embed: (ids) => model.embed(ids),
    async forward(inputs, options) {
      return model.forward(await Promise.all(inputs.map(inputOf)), options);
    },
    async read(inputs, options) {
      return model.read(await Promise.all(inputs.map(inputOf)), options);
    },
    async generate(requests: readonly GenerateRequest[], options?: GenerateOptions) {
      const ready = requests.map(async (request) => ({ ...request, input: await inputOf(request.input) }));
      return model.generate(await Promise.all(ready), options);
    },
    dispose: () => model.dispose(),
  };
}
