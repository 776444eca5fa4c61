/** Markdown: the text as it stands, a section for each heading. CommonMark by mdast. */
import { fromMarkdown } from "mdast-util-from-markdown";
import { decodeText } from "./decode";
import { collapse, HeadingPath, lineMarks, type ParsedFile, type Parser, type Section, stemOf } from "./parsed";

const FRONT_MATTER = /^---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/;

export const parseMarkdown: Parser = (bytes, name) => {
  const { text, warnings } = decodeText(bytes);
  return { ...sectionsOf(text, stemOf(name)), text, marks: lineMarks(text), warnings };
};

function sectionsOf(text: string, stem: string): Pick<ParsedFile, "title" | "sections"> {
  const frontMatter = FRONT_MATTER.exec(text)?.[0] ?? "";
  // Blanks instead of it: Markdown would read it as a heading, and offsets must stay.
  const { children } = fromMarkdown(" ".repeat(frontMatter.length) + text.slice(frontMatter.length));
  const [first] = children;
  const opening = first?.type === "heading" && first.depth === 1 ? headingText(first) : "";
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
  for (const node of children) {
    if (node.type !== "heading") continue;
    const [start, end] = [node.position?.start.offset ?? 0, node.position?.end.offset ?? 0];
    close(start, node.depth);
    current = { title: path.enter(node.depth, headingText(node)), depth: node.depth, heading: start, start: end };
  }
  close(text.length, 0);
  return { title, sections };
}

/** What is of interest of a node of the syntax tree. */
interface TextNode {
  type: string;
  value?: string;
  children?: readonly TextNode[];
}

function headingText(heading: TextNode): string {
  return collapse(plain(heading));
}

function plain({ value = "", children = [] }: TextNode): string {
  return value + children.map(plain).join("");
}

function frontMatterTitle(frontMatter: string): string {
  return collapse(/^title:(.*)$/im.exec(frontMatter)?.[1] ?? "").replace(/^(["'])(.*)\1$/, "$2");
}
