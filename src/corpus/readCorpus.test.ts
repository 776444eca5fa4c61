import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collapse } from "./parsed";
import { cutCorpus, inputFile, isHiddenPath, placeOf, readCorpus } from "./readCorpus";
import { countWords, fileOf, read } from "./testing";

const words = (count: number, word = "word") => Array.from({ length: count }, (_, i) => `${word}${i}`).join(" ");

describe("cutCorpus", () => {
  it("gives the passages that reading with the same size gives, without reading again", async () => {
    const files = { "a.txt": `${words(30)}.\n\n${words(20, "other")}.`, "b.md": "# B\n\nShort.\n" };
    const [large, small] = [await read(files), await read(files, { maxTokens: 16 })];
    const cut = await cutCorpus(large.files, { countTokens: countWords, maxTokens: 16 });
    expect(cut).toEqual({ documents: small.documents, files: small.files });
    expect(cut.documents.length).toBeGreaterThan(large.documents.length);
  });
});

describe("readCorpus", () => {
  it("reads files of mixed kinds in their order, with titles, ids and places", async () => {
    const { documents, files, skipped } = await read({
      "notes/oder.txt": "The Oder is a river.\nIt is long.\n",
      "guide.md": "# Guide\n\nIntro.\n\n## Install\n\nRun it.\n",
      "page.html": "<title>Page</title>\n<p>Hello</p>",
      "people.csv": "name,born\nAda,1815\n",
      "facts.jsonl": '{"title":"Dun","text":"A city."}\n',
    });
    expect(skipped).toEqual([]);
    expect(documents.map(({ id, title, text }) => [id, title, text])).toEqual([
      ["notes/oder.txt#1", "oder", "The Oder is a river. It is long."],
      ["guide.md#1", "Guide", "Intro."],
      ["guide.md#2", "Guide / Install", "Run it."],
      ["page.html#1", "Page", "Hello"],
      ["people.csv#1", "people / Ada", "name: Ada; born: 1815"],
      ["facts.jsonl#1", "facts / Dun", "A city."],
    ]);
    expect(documents.map(({ source }) => source)).toEqual([
      { kind: "file", file: "notes/oder.txt", start: 0, end: 32, line: 1 },
      { kind: "file", file: "guide.md", start: 9, end: 15, line: 3 },
      { kind: "file", file: "guide.md", start: 29, end: 36, line: 7 },
      { kind: "file", file: "page.html", start: 0, end: 5, line: 2 },
      { kind: "file", file: "people.csv", start: 0, end: 21, row: 1 },
      { kind: "file", file: "facts.jsonl", start: 0, end: 7, row: 1 },
    ]);
    expect(files.map(({ name, kind, passages }) => [name, kind, passages])).toEqual([
      ["notes/oder.txt", "text", 1],
      ["guide.md", "markdown", 2],
      ["page.html", "html", 1],
      ["people.csv", "csv", 1],
      ["facts.jsonl", "jsonl", 1],
    ]);
    expect(documents.map(({ tokens }) => tokens)).toEqual([9, 2, 5, 2, 7, 5]);
  });

  it("names files that cannot be read, and reads the others", async () => {
    const zip = Uint8Array.of(0x50, 0x4b, 0x03, 0x04, 1, 2, 3);
    const { documents, skipped } = await read({
      "empty.txt": "",
      "blank.md": " \n\n",
      "report.docx": zip,
      "photo.jpg": Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 1),
      "program.exe": Uint8Array.of(77, 90, 0, 1, 2),
      "bad.json": "{",
      "bad.jsonl": "nonsense\n",
      "head.csv": "name,born\n",
      "not.pdf": "no PDF at all",
      "good.txt": "Good.",
    });
    expect(documents.map(({ id }) => id)).toEqual(["good.txt#1"]);
    expect(Object.fromEntries(skipped.map(({ name, reason }) => [name, reason]))).toEqual({
      "empty.txt": "is empty",
      "blank.md": "holds no text",
      "report.docx": "is a ZIP archive or an office document; save it as PDF, HTML or text",
      "photo.jpg": "is a picture",
      "program.exe": "is no text",
      "bad.json": expect.stringMatching(/^is no JSON \(.+\)$/),
      "bad.jsonl": expect.stringMatching(/^holds no record: line 1 is no JSON \(.+\)$/),
      "head.csv": "holds a header but no rows",
      "not.pdf": "is no valid PDF",
    });
  });

  it("names a file that cannot be opened, that is too large, given twice, or one too many", async () => {
    const closed = { ...fileOf("closed.txt", "x"), bytes: () => Promise.reject(new Error("permission denied")) };
    const liar = { ...fileOf("liar.txt", "x".repeat(2_000)), size: 10 };
    const files = [
      closed,
      fileOf("large.txt", "x".repeat(2_000)),
      liar,
      fileOf("a.txt", "a"),
      fileOf("a.txt", "a"),
      fileOf("b.txt", "b"),
    ];
    const limits = { fileBytes: 1_024, files: 5 };
    const { documents, skipped } = await readCorpus(files, { countTokens: countWords, maxTokens: 100, limits });
    expect(documents.map(({ id }) => id)).toEqual(["a.txt#1"]);
    expect(skipped).toEqual([
      { name: "closed.txt", reason: "could not be opened (permission denied)" },
      { name: "large.txt", reason: "is larger than 0 MiB" },
      { name: "liar.txt", reason: "is larger than 0 MiB" },
      { name: "a.txt", reason: "is given twice" },
      { name: "b.txt", reason: "is one too many: a corpus holds 5 files" },
    ]);
  });

  it("leaves out a file whose passages do not fit any more", async () => {
    const files = { "a.txt": "one", "b.csv": "x\n1a\n2b\n3c\n", "c.txt": "three" };
    const { documents, skipped } = await read(files, { limits: { passages: 3 } });
    expect(documents.map(({ id }) => id)).toEqual(["a.txt#1", "c.txt#1"]);
    expect(skipped).toEqual([{ name: "b.csv", reason: "does not fit: a corpus holds 3 passages" }]);
  });

  it("survives a reader that stumbles", async () => {
    const countTokens = ({ text }: { text: string }) => {
      if (text.includes("poison")) throw new Error("stumbled");
      return 1;
    };
    const { documents, skipped } = await read({ "a.txt": "poison", "b.txt": "fine" }, { countTokens });
    expect(documents).toHaveLength(1);
    expect(skipped).toEqual([{ name: "a.txt", reason: "could not be read (stumbled)" }]);
  });

  it("lets other work of the thread come between", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const countTokens = () => {
      const start = performance.now();
      while (performance.now() - start < 3);
      return 1;
    };
    await read({ "t.csv": `x\n${words(60, "v").replaceAll(" ", "\n")}` }, { countTokens });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(1);
  });

  it("tells how far it is", async () => {
    const progress: unknown[] = [];
    await read({ "a.txt": "one", "b.txt": "" }, { onProgress: (at) => progress.push(at) });
    expect(progress).toEqual([
      { name: "a.txt", done: 1, total: 2, passages: 1 },
      { name: "b.txt", done: 2, total: 2, passages: 1 },
    ]);
  });

  it("stops between files and inside a long one", async () => {
    await expect(read({ "a.txt": "a" }, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    const controller = new AbortController();
    let counted = 0;
    const countTokens = () => {
      if (++counted === 10) controller.abort(new Error("enough"));
      return 1;
    };
    const long = { "long.csv": `x\n${words(1_000, "v").replaceAll(" ", "\n")}` };
    await expect(read(long, { countTokens, signal: controller.signal })).rejects.toThrow("enough");
    expect(counted).toBeLessThan(20);
  });

  it("refuses passages of no size", async () => {
    for (const maxTokens of [15, 0, -1, 16.5, Number.NaN]) {
      await expect(read({ "a.txt": "a" }, { maxTokens })).rejects.toThrow("passages must have at least 16 tokens");
    }
  });
});

describe("passages", () => {
  it("keep paragraphs together, then sentences, then words", async () => {
    const sentence = (name: string) => `${words(7, name)} end.`;
    const paragraphs = [sentence("a"), `${sentence("b")} ${sentence("c")}\n${sentence("d")}`, words(40, "e")];
    const { documents } = await read({ "t.txt": paragraphs.join("\n\n") }, { maxTokens: 17 });
    expect(documents.map(({ text }) => text)).toEqual([
      sentence("a"),
      `${sentence("b")} ${sentence("c")}`,
      sentence("d"),
      words(16, "e"),
      words(32, "e").split(" ").slice(16).join(" "),
      words(40, "e").split(" ").slice(32).join(" "),
    ]);
  });

  it("cut text without blanks between characters, never inside one", async () => {
    const countTokens = ({ text }: { text: string }) => text.length;
    const { documents } = await read(
      { "t.txt": `${"👩‍👩‍👧".repeat(5)}${"x".repeat(20)}` },
      { countTokens, maxTokens: 20 },
    );
    expect(documents.map(({ text }) => text)).toEqual([
      "👩‍👩‍👧👩‍👩‍👧",
      "👩‍👩‍👧👩‍👩‍👧",
      `👩‍👩‍👧${"x".repeat(12)}`,
      "x".repeat(8),
    ]);
  });

  it("cut a title that would fill them", async () => {
    const { documents } = await read({ "t.md": `# ${words(30, "t")}\n\n${words(20)}` }, { maxTokens: 20 });
    expect(documents.map(({ title }) => title)).toEqual([`${words(10, "t")}…`, `${words(10, "t")}…`]);
    expect(documents.map(({ tokens }) => tokens)).toEqual([20, 20]);
  });

  it("cover every word in order, fit, and say where they stand, whatever the text", async () => {
    const blank = fc.constantFrom(" ", "\n", "\n\n", "\r\n\r\n", "\t", " \n \n ");
    const word = fc.constantFrom("a", "river", "ends.", "日本語。", "é", "🙂", "# Head", "x".repeat(30));
    const text = fc.array(fc.tuple(word, blank), { minLength: 1, maxLength: 60 }).map((parts) => parts.flat().join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 16, max: 40 }), async (content, maxTokens) => {
        const countTokens = ({ text }: { text: string }) => text.length;
        const { documents, files } = await read({ "t.txt": content }, { countTokens, maxTokens });
        const file = files[0]!;
        expect(
          documents
            .map((document) => document.text)
            .join("")
            .replaceAll(" ", ""),
        ).toBe(content.replace(/\s/g, ""));
        let last = 0;
        for (const { text, source, tokens } of documents) {
          expect(tokens).toBeLessThanOrEqual(maxTokens);
          expect(collapse(file.text.slice(source.start, source.end))).toBe(text);
          expect(source.start).toBeGreaterThanOrEqual(last);
          expect(source.line).toBe(file.text.slice(0, source.start).split(/\r\n|\n|\r/).length);
          last = source.end;
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("inputFile", () => {
  it("takes a browser's file, by the name that its folder gives it", async () => {
    const file = new File(["The Oder."], "oder.txt");
    const { documents } = await readCorpus([inputFile(file), inputFile(file, "rivers/oder.txt")], {
      countTokens: countWords,
      maxTokens: 100,
    });
    expect(documents.map(({ id, text }) => [id, text])).toEqual([
      ["oder.txt#1", "The Oder."],
      ["rivers/oder.txt#1", "The Oder."],
    ]);
  });

  it("names one that the browser may not read any more", async () => {
    const file = new File(["x"], "gone.txt");
    Object.assign(file, {
      arrayBuffer: () => Promise.reject(new DOMException("The file changed", "NotReadableError")),
    });
    const { skipped } = await readCorpus([inputFile(file)], { countTokens: countWords, maxTokens: 100 });
    expect(skipped).toEqual([{ name: "gone.txt", reason: "could not be opened (The file changed)" }]);
  });
});

describe("placeOf", () => {
  it("finds lines whatever ends them", async () => {
    const { files } = await read({ "t.txt": "a\r\nb\rc\nd" });
    const lines = [0, 1, 2, 3, 4, 5, 6, 7].map((offset) => placeOf(files[0]!, offset).line);
    expect(lines).toEqual([1, 1, 1, 2, 2, 3, 3, 4]);
  });
});

describe("isHiddenPath", () => {
  it("knows what a folder holds beside documents", () => {
    const hidden = [".git/config", "a/.DS_Store", "node_modules/x/readme.md", "__MACOSX/a.txt"];
    expect([...hidden, "a/b.txt", "./a.txt", "../a.txt", "a.b/c"].filter(isHiddenPath)).toEqual(hidden);
  });
});
