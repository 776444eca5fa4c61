/** A visitor's own questions with their answers, as JSON Lines: {"question": "...", "answer": "..." or ["...", ...]}. */
import { z } from "zod";
import type { BatchQuestion } from "../../../src/index";

const MOST_QUESTIONS = 2_000;
const answer = z.union([z.string(), z.number()]).transform(String);
const answers = z.union([answer.transform((one) => [one]), z.array(answer).min(1)]);
const lineSchema = z
  .object({
    question: z.string().trim().min(1),
    answer: answers.optional(),
    answers: answers.optional(),
    gold: answers.optional(),
  })
  .transform(({ question, answer, answers, gold }) => ({ text: question, gold: answers ?? answer ?? gold ?? [] }))
  .refine(({ gold }) => gold.some((accepted) => accepted.trim() !== ""), "answer is missing");

/** @throws Error naming the line and what is wrong with it */
export function parseQuestions(text: string): BatchQuestion[] {
  const questions: BatchQuestion[] = [];
  for (const [i, line] of text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/)
    .entries()) {
    if (line.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw new Error(`line ${i + 1} is no JSON`);
    }
    const parsed = lineSchema.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new Error(`line ${i + 1}: ${[issue?.path.join("."), issue?.message].filter(Boolean).join(": ")}`);
    }
    questions.push(parsed.data);
    if (questions.length > MOST_QUESTIONS) throw new Error(`it holds more than ${MOST_QUESTIONS} questions`);
  }
  if (questions.length === 0) throw new Error("it holds no questions");
  return questions;
}
