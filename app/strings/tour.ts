/** The words of the guided tour. Whatever is a number or a quote comes from the recorded run itself. */

/** What the tour tells of the recorded run. */
export interface TourFacts {
  question: string;
  /** Of the first turn. */
  tool: string;
  purpose: string;
  documents: number;
  raw: string;
  bins: number;
  capacity: string;
  truncated: number;
  refined: string;
  /** Of the whole run. */
  turns: number;
  answer: string;
  context: string;
  without: string;
}

interface Chapter {
  title: string;
  text: (facts: TourFacts) => readonly string[];
}

export const tour = {
  label: "Tour",
  lead: "Learn the idea",
  why: "Why two systems beat one",
  whyHint: "One key: the same question without System 1 and with it.",
  begin: "Take the tour",
  beginHint: "Eight short chapters, step by step through a recorded run.",
  chapter: (number: number, count: number) => `Chapter ${number} of ${count}`,
  next: "Next",
  back: "Back",
  leave: "Leave the tour",
  finish: "Try it yourself",
  keys: "The arrow keys turn the page, Esc leaves; the room stays as it is.",
  missing:
    "The recorded run did not arrive with the page, so that the tour has nothing to show. Ask a question instead.",

  chapters: [
    {
      title: "A question that takes several steps",
      text: ({ question }) => [
        `System 2 is a small language model that runs in this tab. It is asked: “${question}”`,
        "No article answers that by itself. It takes a chain of facts, and each has to be looked up.",
        "All that a language model knows of a task is its context: the text that it can read at one time. It is short, and whatever is found has to fit into it.",
      ],
    },
    {
      title: "It searches with a purpose",
      text: ({ tool, purpose }) => [
        `System 2 thinks, then calls a tool: ${tool}. With the call goes a purpose, in its own words: “${purpose}”.`,
        "The purpose is the whole trick. It tells a reader what to look for, so that System 2 does not have to read everything itself.",
      ],
    },
    {
      title: "Too much comes back",
      text: ({ documents, raw }) => [
        `The search returns ${documents} whole articles: ${raw} tokens. (A token is a short word, or a part of a longer one.)`,
        "One sentence of all that is wanted. The rest would lie in System 2's context for the rest of the run, and every further search would add to it.",
      ],
    },
    {
      title: "The articles are packed",
      text: ({ bins, capacity, truncated }) => [
        `System 1 is the second reader. It reads little at a time, here ${capacity} tokens, but many of it can read at once.`,
        `So the articles are packed into bins: the longest first, each into the first bin with room. That rule is called First Fit Decreasing, and it made ${bins} bins here.${truncated > 0 ? " Articles longer than a bin are cut to fit: what is cut is lost, and can cost the answer." : ""}`,
        "The room Bin packing shows how good the rule is, and when it is not.",
      ],
    },
    {
      title: "All bins are read at once",
      text: ({ bins }) => [
        `Each of the ${bins} bins goes to its own System 1, all at the same time. Each is told the purpose and nothing else of the question.`,
        "It quotes the sentence that serves the purpose, or says that there is nothing relevant. Point at a quote to see which article it comes from.",
      ],
    },
    {
      title: "Only the quotes go back",
      text: ({ refined, raw }) => [
        `${refined} tokens return to System 2 instead of ${raw}. It never sees the articles.`,
        "Now it knows one fact more, and asks for the next one, with a new purpose.",
      ],
    },
    {
      title: "The answer",
      text: ({ turns, answer, context, without }) => [
        `After ${turns} turns System 2 answers: ${answer}.`,
        `Its context holds ${context} tokens at the end. Had the articles gone into it as they were, it would have had to hold ${without}: that is the dashed bar above.`,
        "System 1 did read all of it, so the reading is not saved. It is done elsewhere, in small pieces and side by side, and forgotten.",
      ],
    },
    {
      title: "Why two systems beat one",
      text: () => [
        "Here is the same model with the same question, once without System 1 and once with it. Both runs were recorded, neither was drawn by hand.",
        "Alone, System 2 has whole articles in its context and loses the thread. With System 1 each look-up costs it a few lines.",
        "To be fair: this model was trained to read System 1's quotes. Some of its trouble with whole articles is want of practice. The length of its context is not.",
      ],
    },
  ] satisfies readonly Chapter[] as readonly Chapter[],

  duel: {
    title: "One question, two ways",
    hint: "System 2's context, turn by turn. Each block is what one turn added to it.",
    alone: "System 2 alone",
    both: "System 2 with System 1",
    tokens: (count: string) => `${count} tokens`,
    kinds: {
      question: "question",
      own: "its own words",
      refined: "quotes from System 1",
      raw: "whole articles",
      error: "errors",
    },
    /** How a run ended that gave none. */
    unanswered: (reason: string) => `${reason}. No answer.`,
    answered: (answer: string, grade: string) => `Answers “${answer}”. ${grade}`,
    reading: "…",
    now: "Both runs, turn by turn",
    turn: (number: number) => `Turn ${number}`,
    table: { head: ["Run", "Turn", "What", "Tokens"] },
  },
} as const;
