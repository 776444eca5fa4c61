/**
 * The bytes that each token stands for, from the decoder section of tokenizer.json: the ground for decoding whole
 * sequences and single tokens alike. Two families are known: byte-level BPE (GPT-2, Qwen, Llama 3), whose tokens are
 * bytes written as printable characters, and SentencePiece-like BPE with byte fallback (Llama 2, Mistral).
 */
import { z } from "zod";
import { CheckpointError } from "../checkpoint/errors";

export interface TokenBytes {
  /** Empty for an id that no token has (models often have more embedding rows than tokens). */
  bytesOf(id: number): Uint8Array;
  /** How many spaces at the very beginning of a text belong to the encoding and not to the text. */
  leadingSpaces: number;
}

/** GPT-2's printable stand-in for each byte: itself where it is printable, else the next code point from 256 on. */
export const BYTE_CHARS: readonly string[] = (() => {
  let next = 256;
  const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
})();

const byteOfChar = new Map(BYTE_CHARS.map((char, byte) => [char, byte]));

const decoderSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("ByteLevel") }),
  z.looseObject({
    type: z.literal("Sequence"),
    decoders: z.array(
      z.discriminatedUnion("type", [
        z.looseObject({
          type: z.literal("Replace"),
          pattern: z.object({ String: z.string().min(1) }),
          content: z.string(),
        }),
        z.looseObject({ type: z.literal("ByteFallback") }),
        z.looseObject({ type: z.literal("Fuse") }),
        z.looseObject({
          type: z.literal("Strip"),
          content: z.literal(" "),
          start: z.int().nonnegative(),
          stop: z.literal(0),
        }),
        z.looseObject({ type: z.literal("ByteLevel") }),
      ]),
    ),
  }),
]);

/**
 * @param decoder the `decoder` section of tokenizer.json
 * @param contentOf the token of an id, as it stands in the vocabulary
 * @param isAdded whether an id is one of `added_tokens`, which stand for their own characters
 * @throws CheckpointError for a decoder of another kind.
 */
export function tokenBytes(
  decoder: unknown,
  contentOf: (id: number) => string | undefined,
  isAdded: (id: number) => boolean,
): TokenBytes {
  const parsed = decoderSchema.safeParse(decoder);
  if (!parsed.success) {
    const kind = JSON.stringify(decoder)?.slice(0, 200);
    throw new CheckpointError(`tokenizer.json: field "decoder" is ${kind}: this kind of decoder is not supported`);
  }
  const steps = parsed.data.type === "Sequence" ? parsed.data.decoders : [parsed.data];
  const encoder = new TextEncoder();
  const replacements = steps.flatMap((step) => (step.type === "Replace" ? [step] : []));
  const hasFallback = steps.some((step) => step.type === "ByteFallback");
  const isByteLevel = steps.some((step) => step.type === "ByteLevel");

  const bytesOfToken = (content: string, added: boolean): Uint8Array => {
    if (isByteLevel) {
      const bytes = added ? undefined : Array.from(content, (char) => byteOfChar.get(char));
      return bytes?.every((byte) => byte !== undefined) ? Uint8Array.from(bytes) : encoder.encode(content);
    }
    const byte = hasFallback ? /^<0x([0-9A-F]{2})>$/.exec(content)?.[1] : undefined;
    if (byte !== undefined) {
      return Uint8Array.of(Number.parseInt(byte, 16));
    }
    return encoder.encode(
      replacements.reduce((text, step) => text.replaceAll(step.pattern.String, step.content), content),
    );
  };

  const none = new Uint8Array(0);
  const known = new Map<number, Uint8Array>();
  return {
    bytesOf(id) {
      let bytes = known.get(id);
      if (!bytes) {
        const content = contentOf(id);
        bytes = content === undefined ? none : bytesOfToken(content, isAdded(id));
        known.set(id, bytes);
      }
      return bytes;
    },
    leadingSpaces: steps.reduce((sum, step) => sum + (step.type === "Strip" ? step.start : 0), 0),
  };
}
