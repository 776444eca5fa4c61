/** Markdown: the text as it stands, a section for each heading. CommonMark and GitHub's additions by marked. */
import { Lexer, type Token, type Tokens } from "marked";
import { decodeText } from "./decode";
import { collapse, HeadingPath, lineMarks, type ParsedFile, type Parser, type Section, stemOf } from "./parsed";

const FRONT_MATTER = /^---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/;

export const parseMarkdown: Parser = (bytes, name) => {
  const { text, warnings } = decodeText(bytes);
  return { ...sectionsOf(text, stemOf(name)), text, marks: lineMarks(text), warnings };
};

function sectionsOf(text: string, stem: string): Pick<ParsedFile, "title" | "sections"> {
  const frontMatter = FRONT_MATTER.exec(text)?.[0] ?? "";
  const blocks = blocksOf(text, frontMatter.length);
  const first = blocks.find(({ token }) => token.type !== "space");
  const opening = first && isHeading(first.token) && first.token.depth === 1 ? headingText(first.token) : "";
  const title = frontMatterTitle(frontMatter) || opening || stem;

  const path = new HeadingPath(title);
  const sections: Section[] = [];
  let current = { title: "", depth: 0, heading: 0, start: frontMatter.length };
  const close = (end: number, nextDepth: number) => {
    const { title: heading, depth, heading: from, start } = current;
    if (text.slice(start, end).trim() !== "") sections.push({ title: heading, start, end });
    // A heading with nothing below it says something by itself.
    else if (depth > 0 && nextDepth <= depth) sections.push({ title: heading, start: from, end: start });
  };
  for (const { token, start } of blocks) {
    if (!isHeading(token)) continue;
    const { depth, raw } = token;
    close(start, depth);
    current = { title: path.enter(depth, headingText(token)), depth, heading: start, start: start + raw.length };
  }
  close(text.length, 0);
  return { title, sections };
}

/** The blocks of a text from `from` on, each with the offset where it begins. */
function blocksOf(text: string, from: number): { token: Token; start: number }[] {
  // marked would make one character of a line end that has two, and offsets would drift.
  const source = text.slice(from).replace(/\r\n/g, " \n").replace(/\r/g, "\n");
  let start = from;
  return new Lexer().blockTokens(source).map((token) => {
    const block = { token, start };
    start += token.raw.length;
    return block;
  });
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === "heading";
}

/** The words of a heading, without the marks of emphasis, code and links. */
function headingText({ text }: Tokens.Heading): string {
  return collapse(Lexer.lexInline(text).map(plain).join(""));
}

function plain(token: Token): string {
  if ("tokens" in token && token.tokens) return token.tokens.map(plain).join("");
  return "text" in token ? String(token.text) : "";
}

function frontMatterTitle(frontMatter: string): string {
  return collapse(/^title:(.*)$/im.exec(frontMatter)?.[1] ?? "").replace(/^(["'])(.*)\1$/, "$2");
}
