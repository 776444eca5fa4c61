/** Text files: one section, as it stands. */
import { decodeText } from "./decode";
import { lineMarks, type Parser, stemOf } from "./parsed";

export const parsePlainText: Parser = (bytes, name) => {
  const { text, warnings } = decodeText(bytes);
  return {
    title: stemOf(name),
    text,
    sections: [{ title: "", start: 0, end: text.length }],
    marks: lineMarks(text),
    warnings,
  };
};
