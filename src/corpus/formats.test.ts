/** What each reader of text formats makes of files as people have them. */
import { describe, expect, it } from "vitest";
import { parseCsv } from "./csv";
import { decodeText } from "./decode";
import { parseHtml } from "./html";
import { parseJson, parseJsonLines } from "./json";
import { parseMarkdown } from "./markdown";
import { numberAt, type ParsedFile, type Parser, stemOf } from "./parsed";

const utf8 = (text: string) => new TextEncoder().encode(text);
const parse = async (parser: Parser, text: string, name = "folder/file.x") => parser(utf8(text), name, {});
/** Each section's title, text, and the line or row it begins at. */
const sections = ({ sections: all, text, marks }: ParsedFile) =>
  all.map(({ title, start, end }) => {
    const part = text.slice(start, end);
    return [title, part.trim(), numberAt(marks, start + part.length - part.trimStart().length)];
  });

describe("decodeText", () => {
  it("knows byte order marks and takes them away", () => {
    const utf16 = (text: string, little: boolean) =>
      Uint8Array.from([...text].flatMap((c) => (little ? [c.charCodeAt(0), 0] : [0, c.charCodeAt(0)])));
    expect(decodeText(Uint8Array.of(0xef, 0xbb, 0xbf, 65)).text).toBe("A");
    expect(decodeText(Uint8Array.of(0xff, 0xfe, ...utf16("Aé", true))).text).toBe("Aé");
    expect(decodeText(Uint8Array.of(0xfe, 0xff, ...utf16("Aé", false))).text).toBe("Aé");
  });

  it("falls back to Windows-1252 and says so", () => {
    expect(decodeText(Uint8Array.of(67, 97, 102, 0xe9))).toEqual({
      text: "Café",
      warnings: ["not valid UTF-8; read as Windows-1252"],
    });
  });

  it("takes the declared encoding, and ignores one that does not exist", () => {
    expect(decodeText(Uint8Array.of(0x93, 0xfa), "Shift_JIS")).toEqual({ text: "日", warnings: [] });
    expect(decodeText(utf8("é"), "utf-99")).toEqual({ text: "é", warnings: [] });
  });

  it("refuses what is no text", () => {
    const noise = Uint8Array.from({ length: 200 }, (_, i) => 1 + ((i * 89) % 255));
    expect(() => decodeText(noise)).toThrow("is no text");
    expect(() => decodeText(Uint8Array.of(65, 0, 66))).toThrow("is no text");
    expect(() => decodeText(Uint8Array.of(0x1f, 0x8b, 8))).toThrow("is compressed (gzip)");
  });
});

describe("stemOf", () => {
  it.each([
    ["a/b/report.final.pdf", "report.final"],
    ["README", "README"],
    [".env", ".env"],
    ["a.b/c", "c"],
  ])("%s", (name, stem) => expect(stemOf(name)).toBe(stem));
});

describe("Markdown", () => {
  it("has a section for each heading, under the headings above it", async () => {
    const file = await parse(
      parseMarkdown,
      "# The *Guide*\n\nIntro.\n\n## Install\n\nRun.\n\n### Linux\nUse `apt`.\n\nUse\n===\nPlay.\n",
    );
    expect(file.title).toBe("The Guide");
    expect(sections(file)).toEqual([
      ["", "Intro.", 3],
      ["Install", "Run.", 7],
      ["Install / Linux", "Use `apt`.", 10],
      ["Use", "Play.", 14],
    ]);
  });

  it("takes no heading out of code, and keeps text before the first", async () => {
    const file = await parse(parseMarkdown, "Before.\n\n```sh\n# no heading\n```\n\n# One\n\nBody.", "notes.md");
    expect(file.title).toBe("notes");
    expect(sections(file)).toEqual([
      ["", "Before.\n\n```sh\n# no heading\n```", 1],
      ["One", "Body.", 9],
    ]);
  });

  it("reads the title from front matter, which is no text", async () => {
    const file = await parse(parseMarkdown, '---\r\ntitle: "On Rivers"\r\ndate: 2020\r\n---\r\n\r\nThe Oder.\r\n');
    expect(file.title).toBe("On Rivers");
    expect(sections(file)).toEqual([["", "The Oder.", 6]]);
  });

  it("keeps its offsets over every kind of line end and block", async () => {
    const blocks = [
      "intro  \n  more",
      "## A [link](x) and `code` ![p](q)",
      "* one\n\n  two\n* three",
      "> quote\n> more",
      "| a | b |\n|---|---|\n| 1 | 2 |",
      "\tindented\tcode",
      "```\n# not\n\n\n## a heading\n```",
      "[ref]: http://example.org",
      "<div>\n# html\n</div>",
      "   ",
      "### Last",
      "the end",
    ];
    for (const lineEnd of ["\n", "\r\n", "\r"]) {
      const text = blocks.join("\n\n").replaceAll("\n", lineEnd);
      const file = await parse(parseMarkdown, text, "b.md");
      const [intro, a, last, ...rest] = sections(file);
      expect(rest).toEqual([]);
      expect(intro).toEqual(["", `intro  ${lineEnd}  more`, 1]);
      expect(a?.[0]).toBe("A link and code p");
      expect(a?.[1]).toMatch(/^\* one[\s\S]*<\/div>$/);
      expect(last?.slice(0, 2)).toEqual(["A link and code p / Last", "the end"]);
    }
  });

  it("keeps a heading with nothing below it, unless a deeper one follows", async () => {
    const file = await parse(parseMarkdown, "# A\n\n## B\n\n## C\n\ntext\n\n## D\n");
    expect(sections(file).map(([title, text]) => [title, text])).toEqual([
      ["B", "## B"],
      ["C", "text"],
      ["D", "## D"],
    ]);
  });
});

describe("HTML", () => {
  it("reads what a reader sees, with the lines of the source", async () => {
    const file = await parse(
      parseHtml,
      `<!doctype html><html><head><title> Rivers &amp;
 lakes </title><style>p { color: red }</style></head>
<body><nav><a href="/">Home</a><br><p>Menu</nav>
<h1>Rivers</h1><p>The <b>Oder</b> is
 caf&eacute;-brown.</p>
<script>var x = "<p>no</p>";</script>
<div hidden>secret</div><p aria-hidden="true">icon</p>
<h2>Length</h2>
<ul><li>741 km<li>long</ul>
<footer>Imprint</footer></body></html>`,
    );
    expect(file.title).toBe("Rivers & lakes");
    expect(sections(file)).toEqual([
      ["Rivers", "The Oder is café-brown.", 4],
      ["Rivers / Length", "741 km\n\nlong", 9],
    ]);
  });

  it("reads tables by rows, line breaks and preformatted text", async () => {
    const file = await parse(
      parseHtml,
      "<table><tr><th>a<th>b<tr><td>1<td>2</table>one<br>two<pre>  x\n   y</pre>",
      "t.html",
    );
    expect(file.title).toBe("t");
    expect(file.text).toBe("a | b\n1 | 2\n\none\ntwo\n\n  x\n   y");
  });

  it("takes the first heading for the title where there is none, and text without any tag", async () => {
    expect((await parse(parseHtml, "<h2>x</h2><h1>Main</h1><p>y")).title).toBe("Main");
    expect((await parse(parseHtml, "just words")).text).toBe("just words");
    const picture = await parse(parseHtml, "<svg><title>icon</title></svg><p>text", "page.html");
    expect([picture.title, picture.text]).toEqual(["page", "text"]);
  });

  it("reads in the encoding that the page declares", async () => {
    const page = Uint8Array.of(...utf8('<meta charset="shift_jis"><p>'), 0x93, 0xfa);
    expect((await parseHtml(page, "x.html", {})).text).toBe("日");
  });

  it("survives ten thousand elements in each other, and ends that have no beginning", async () => {
    const file = await parse(parseHtml, `${"<div>".repeat(10_000)}deep</b></nav></div>text`);
    expect(file.text).toBe("deep\n\ntext");
  });
});

describe("CSV", () => {
  it("reads quotes, line ends in values, and any delimiter", async () => {
    const file = await parse(parseCsv, '"name";"note"\r\nAda;"one\ntwo; ""three"""\r\nBob;\r\n', "people.csv");
    expect(sections(file)).toEqual([
      ["Ada", 'name: Ada; note: one two; "three"', 1],
      ["Bob", "name: Bob", 2],
    ]);
    expect(file.warnings).toEqual([]);
    expect((await parse(parseCsv, "a\tb\nx, y\t2\n", "t.tsv")).text).toBe("a: x, y; b: 2");
  });

  it("does not take numbers, gaps or repetitions for a header", async () => {
    expect((await parse(parseCsv, "1,2\n3,4\n")).text).toBe("1; 2\n3; 4");
    expect((await parse(parseCsv, "a,a\nb,c\n")).text).toBe("a; a\nb; c");
    expect((await parse(parseCsv, "a,\nb,c\n")).text).toBe("a\nb; c");
  });

  it("warns of rows that do not fit the header, and of quotes that do not end", async () => {
    expect((await parse(parseCsv, "a,b\n1,2,3\n4\n")).warnings).toEqual([
      "2 rows have more or fewer values than the header",
    ]);
    expect((await parse(parseCsv, 'a,b\n1,"2\n3,4\n')).warnings[0]).toMatch(/^row \d: .*quote/i);
  });
});

describe("JSON", () => {
  it("finds title and text of a record, and writes out its other fields", async () => {
    const lines = [
      { title: "Dun", text: "A city.", year: 1815, tags: ["old", "big"], vector: Array(50).fill(0.1), none: null },
      { Name: "Ada", born: 1815, at: { city: "Dun" } },
      "a string",
      [1, 2],
    ];
    const file = await parse(parseJsonLines, lines.map((line) => JSON.stringify(line)).join("\n\n"));
    expect(sections(file)).toEqual([
      ["Dun", "A city.\nyear: 1815; tags: old, big", 1],
      ["Ada", 'Name: Ada; born: 1815; at: {"city":"Dun"}', 3],
      ["", "a string", 5],
      ["", "1, 2", 7],
    ]);
  });

  it("leaves out lines that are no JSON, and says which", async () => {
    const one = await parse(parseJsonLines, '{"text":"a"}\n{oops}\n');
    expect(one.warnings[0]).toMatch(/^line 2 is no JSON \(.+\); left out$/);
    const two = await parse(parseJsonLines, 'x\n{"text":"a"}\ny\n');
    expect(two.warnings[0]).toMatch(/^2 lines are, from line 1 on, no JSON/);
    expect(sections(two)).toEqual([["", "a", 2]]);
  });

  it("reads a list of records, or one", async () => {
    expect(sections(await parse(parseJson, '[{"text":"a"},{"text":"b"}]'))).toEqual([
      ["", "a", 1],
      ["", "b", 2],
    ]);
    expect((await parse(parseJson, '{"a":1}')).text).toBe("a: 1");
    expect((await parse(parseJson, '{"tags":["x"],"more":{"b":2}}')).text).toBe('tags: x; more: {"b":2}');
  });

  it("finds the list of records that an export wraps", async () => {
    const file = await parse(parseJson, '{"count":2,"articles":[{"text":"a"},{"text":"b"}],"tags":["x"]}');
    expect([file.text, file.warnings]).toEqual(["a\nb", ['only the list "articles" was read']]);
    expect((await parse(parseJson, '{"a":[{"x":1}],"b":[{"y":2}]}')).text).toBe('a: {"x":1}; b: {"y":2}');
  });
});
