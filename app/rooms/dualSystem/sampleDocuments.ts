/** A handful of invented files for those who have none at hand, and a question that they answer. */
import { makeWorld } from "../../../src/index";
import type { NamedFile } from "../../engine/droppedFiles";

const FILES = 9;

/** Articles of another world than the one on the page: the question's own, and others around it. */
export function sampleDocuments(world: number): { files: NamedFile[]; question: string } {
  const { documents, questions } = makeWorld(world + 1);
  const { text, goldDocuments } = questions.find(({ kind, hops }) => kind === "lookup" && hops === 1) ?? questions[0]!;
  const needed = documents.filter(({ id }) => goldDocuments.includes(id));
  const others = documents.filter(({ id }) => !goldDocuments.includes(id)).slice(0, FILES - needed.length);
  const files = [...needed, ...others].map(({ title, text: body }, i) => {
    const [ending, content] = FORMS[i % FORMS.length]!(title, body);
    const name = `sample/${title}.${ending}`;
    return { name, file: new File([content], `${title}.${ending}`) };
  });
  return { files, question: text };
}

/** The same article in several formats. */
const FORMS: readonly ((title: string, body: string) => readonly [ending: string, content: string])[] = [
  (title, body) => ["md", `# ${title}\n\n${body}\n`],
  (_, body) => ["txt", `${body}\n`],
  (title, body) => ["html", `<title>${title}</title>\n<h1>${title}</h1>\n<p>${body}</p>\n`],
];
