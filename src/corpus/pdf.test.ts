/** PDF files made by hand, read by the real pdf.js in this thread, as in a worker. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { parsePdf } from "./pdf";
import { joinPages, type PdfLine } from "./pdfText";
import { pdfOf, read } from "./testing";

const body = (first: string, second: string) =>
  [
    [first, 700],
    [second, 688],
  ] as const;

describe("parsePdf", { timeout: 120_000 }, () => {
  it("reads pages, joins lines and mends divided words, and knows the page of every passage", async () => {
    const bytes = pdfOf(
      [
        {
          lines: [
            ["On rivers", 750],
            ...body("The Oder is a very impor-", "tant river. It is"),
            ["A new paragraph . . . . . 7", 650],
          ],
        },
        { lines: body("Second page (with brackets).", "It ends.") },
      ],
      { title: "Rivers of Europe" },
    );
    const file = await parsePdf(bytes, "docs/r.pdf", {});
    expect(file.title).toBe("Rivers of Europe");
    expect(file.text).toBe(
      "On rivers\n\nThe Oder is a very important river. It is\n\nA new paragraph … 7 Second page (with brackets). It ends.",
    );
    expect(file.marks).toEqual({ unit: "page", at: [0, file.text.indexOf("Second")] });
    expect(file.warnings).toEqual([]);
    expect(bytes.length).toBeGreaterThan(0);

    const { documents } = await read({ "r.pdf": bytes }, { maxTokens: 16 });
    expect(documents.map(({ text, source }) => [text, source.page])).toEqual([
      ["On rivers The Oder is a very important river. It is", 1],
      ["A new paragraph … 7 Second page (with brackets). It ends.", 1],
    ]);
  });

  it("does not take a program's words for a title", async () => {
    for (const title of ["Microsoft Word - report", "untitled", "report.docx", ""]) {
      const file = await parsePdf(pdfOf([{ lines: [["x y", 700]] }], { title }), "a/report.pdf", {});
      expect(file.title).toBe("report");
    }
  });

  it("says of pages without text that they have none", async () => {
    const scan = { lines: [] };
    const file = await parsePdf(pdfOf([scan, { lines: [["words", 700]] }]), "s.pdf", {});
    expect([file.text, file.warnings, file.marks.at]).toEqual(["words", ["1 of 2 pages hold no text"], [0, 0]]);
    await expect(parsePdf(pdfOf([scan]), "s.pdf", {})).rejects.toThrow("holds no text, only pictures of it");
  });

  it("says why a file cannot be read", async () => {
    const key = `<${"ab".repeat(32)}>`;
    const locked = pdfOf([{ lines: [["x", 700]] }], {
      encrypt: `<< /Filter /Standard /V 1 /R 2 /O ${key} /U ${key} /P -4 >>`,
    });
    await expect(parsePdf(locked, "locked.pdf", {})).rejects.toThrow("needs a password");
    const nothing = new TextEncoder().encode("%PDF-1.7\nnothing");
    await expect(parsePdf(nothing, "cut.pdf", {})).rejects.toThrow("is no valid PDF");
  });

  it("reads a file whose end is missing", async () => {
    const bytes = pdfOf([{ lines: [["still there", 700]] }]);
    expect((await parsePdf(bytes.slice(0, -14), "cut.pdf", {})).text).toBe("still there");
  });

  it("stops when it is aborted", async () => {
    const bytes = pdfOf(Array.from({ length: 50 }, () => ({ lines: [["words", 700] as const] })));
    const reason = new Error("enough");
    await expect(parsePdf(bytes, "a.pdf", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const parsing = parsePdf(bytes, "a.pdf", { signal: controller.signal });
    controller.abort(reason);
    await expect(parsing).rejects.toBe(reason);
  });

  it("reads Japanese by a table of pdf.js, when it is given", async () => {
    const font =
      "<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [<< /Type /Font " +
      "/Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) " +
      "/Supplement 2 >> /DW 1000 /FontDescriptor << /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 " +
      "/FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /StemV 80 >> >>] >>";
    const bytes = pdfOf([{ lines: [["<65E5672C>", 700]] }], { font });
    const asked: string[] = [];
    const readCMap = (name: string) => {
      asked.push(name);
      return readFile(new URL(`../../node_modules/pdfjs-dist/cmaps/${name}`, import.meta.url));
    };
    expect(
      (await parsePdf(bytes, "j.pdf", { readCMap: async (name) => new Uint8Array(await readCMap(name)) })).text,
    ).toBe("日本");
    expect(asked).toContain("UniJIS-UCS2-H.bcmap");
  });
});

describe("joinPages", () => {
  const page = (...lines: string[]): PdfLine[] => lines.map((text, i) => ({ text, y: 700 - 12 * i, height: 10 }));

  it("drops page numbers and heads that recur, and joins the sentence that they cut", () => {
    const pages = [1, 2, 3, 4].map((number) =>
      page("Rivers, chapter 1", `part ${"abcd"[number - 1]} goes`, `- ${number} -`),
    );
    expect(joinPages(pages)).toEqual({
      text: "part a goes part b goes part c goes part d goes",
      starts: [0, 12, 24, 36],
    });
  });

  it("keeps numbers inside a page and heads of few pages", () => {
    expect(joinPages([page("Head", "42", "tail."), page("Head", "7 men", "tail")]).text).toBe(
      "Head 42 tail.\n\nHead 7 men tail",
    );
  });

  it("drops the heads of chapters, and of left and right pages", () => {
    const chapter = (number: number, count: number) =>
      Array.from({ length: count }, (_, i) => page(`Chapter ${"ab"[number]}`, `text ${number}${i}`, "more"));
    expect(joinPages([...chapter(0, 3), ...chapter(1, 3)]).text).not.toContain("Chapter");
    const sides = Array.from({ length: 6 }, (_, i) => page("text", "more", i % 2 ? `${i} Rivers` : `The Oder ${i}`));
    expect(joinPages(sides.slice(0, 5)).text.match(/Rivers|Oder/g)).toEqual(["Oder", "Rivers", "Rivers", "Oder"]);
    expect(joinPages([page("Head", "a", "b"), page("Head", "c", "d")]).text).toBe("Head a b Head c d");
  });

  it("takes no page for a head that says little", () => {
    expect(joinPages([page("same"), page("same"), page("same"), page("4")]).text).toBe("same same same");
  });

  it("knows columns and paragraphs by where lines stand", () => {
    const lines: PdfLine[] = [
      { text: "left ends.", y: 100, height: 10 },
      { text: "right begins", y: 700, height: 10 },
      { text: "goes on", y: 688, height: 10 },
      { text: "after a gap", y: 660, height: 10 },
    ];
    expect(joinPages([lines]).text).toBe("left ends.\n\nright begins goes on\n\nafter a gap");
  });

  it("mends a word over a page, but no name and no dash", () => {
    expect(joinPages([page("an exam-"), page("ple of Saint-", "Denis and 3-", "4 or so")]).text).toBe(
      "an example of Saint- Denis and 3- 4 or so",
    );
  });

  it("gives every page a beginning, also the empty ones", () => {
    expect(joinPages([[], page("a."), [], page("b")])).toEqual({ text: "a.\n\nb", starts: [0, 0, 2, 4] });
  });
});
