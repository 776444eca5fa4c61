/** Ids to text: whole sequences, and piece by piece in time linear in the number of tokens. */
import type { TokenBytes } from "./tokenBytes";
import type { IncrementalDetokenizer } from "./tokenizer";

/** The text of a whole sequence. Bytes that are no UTF-8 become U+FFFD. */
export function decodeIds(ids: ArrayLike<number>, tokens: TokenBytes): string {
  const pieces = Array.from(ids, (id) => tokens.bytesOf(id));
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let position = 0;
  for (const piece of pieces) {
    bytes.set(piece, position);
    position += piece.length;
  }
  const text = newDecoder().decode(bytes);
  let spaces = 0;
  while (spaces < tokens.leadingSpaces && text[spaces] === " ") {
    spaces++;
  }
  return text.slice(spaces);
}

/** A byte order mark is a character that the model wrote, like any other. */
function newDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}

/** Tokens may end within a character: its bytes wait in the UTF-8 decoder until the rest has come. */
export class StreamingDetokenizer implements IncrementalDetokenizer {
  private readonly decoder = newDecoder();
  private spacesToDrop: number;

  constructor(private readonly tokens: TokenBytes) {
    this.spacesToDrop = tokens.leadingSpaces;
  }

  push(id: number): string {
    return this.withoutLeadingSpaces(this.decoder.decode(this.tokens.bytesOf(id), { stream: true }));
  }

  /** Afterwards the detokenizer is as new. */
  flush(): string {
    const rest = this.withoutLeadingSpaces(this.decoder.decode());
    this.spacesToDrop = this.tokens.leadingSpaces;
    return rest;
  }

  private withoutLeadingSpaces(text: string): string {
    let start = 0;
    while (this.spacesToDrop > 0 && start < text.length) {
      this.spacesToDrop = text[start] === " " ? this.spacesToDrop - 1 : 0;
      start += text[start] === " " ? 1 : 0;
    }
    return start === 0 ? text : text.slice(start);
  }
}
