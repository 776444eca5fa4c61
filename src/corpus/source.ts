/** Where a document's text stands, so that a quote can be shown in its place. Part of every trace. */
import { z } from "zod";

const offset = z.number().int().nonnegative();
const count = z.number().int().positive();

export const documentSourceSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("file"),
    /** Name of the file, with its folders. */
    file: z.string(),
    /** Characters [start, end) of the file's readable text (`ParsedFile.text`). */
    start: offset,
    end: offset,
    /** Where the passage begins: line of a text, Markdown or HTML file, page of a PDF, record of a table. From 1. */
    line: count.optional(),
    page: count.optional(),
    row: count.optional(),
  }),
  z.object({
    kind: z.literal("web"),
    url: z.string(),
    /** Characters [start, end) of the text that the site gave for this address. */
    start: offset.optional(),
    end: offset.optional(),
  }),
]);
export type DocumentSource = z.infer<typeof documentSourceSchema>;
export type FileSource = Extract<DocumentSource, { kind: "file" }>;
