/**
 * What can be said and asked in a world: kinds of entities, their functional relations, and for each relation the
 * sentences that state it, the phrase that names it and the questions that ask for it. `{s}` is the subject, `{o}` the
 * object. Every sentence names its subject in full, so that a quote stands on its own.
 */

export interface RelationSchema {
  /** The noun that names it in purposes: "the {name} of {s}". */
  name: string;
  /** Kind of the object, or "year". */
  object: string;
  statements: readonly string[];
  questions: readonly string[];
}

export interface KindSchema {
  kind: string;
  /** Words that follow the invented word; empty: the word alone. For people the invented word is the last name. */
  suffixes: readonly string[];
  introductions: readonly string[];
  relations: readonly RelationSchema[];
}

export interface CorpusSchema {
  id: "encyclopedia" | "papers";
  title: string;
  kinds: readonly KindSchema[];
}

function relation(name: string, object: string, statements: string[], questions: string[]): RelationSchema {
  return { name, object, statements, questions: [...questions, `What is the ${name} of {s}?`] };
}

const person: KindSchema = {
  kind: "person",
  suffixes: [],
  introductions: ["{s} kept a diary.", "{s} liked long walks.", "{s} wrote many letters."],
  relations: [
    relation("birthplace", "city", ["{s} was born in {o}.", "{s} came from {o}."], ["Where was {s} born?"]),
    relation("birth year", "year", ["{s} was born in the year {o}."], ["In which year was {s} born?"]),
    relation(
      "university",
      "university",
      ["{s} studied at {o}.", "{s} took a degree at {o}."],
      ["Where did {s} study?"],
    ),
    relation("teacher", "person", ["{s} was taught by {o}.", "{s} had {o} as teacher."], ["Who taught {s}?"]),
  ],
};

export const ENCYCLOPEDIA: CorpusSchema = {
  id: "encyclopedia",
  title: "Encyclopedia",
  kinds: [
    person,
    {
      kind: "city",
      suffixes: [],
      introductions: ["{s} is a city.", "{s} is an old town.", "{s} is known for its market."],
      relations: [
        relation("country", "country", ["{s} lies in {o}.", "{s} belongs to {o}."], ["In which country is {s}?"]),
        relation("river", "river", ["{s} stands on {o}.", "{s} was built beside {o}."], ["On which river is {s}?"]),
        relation("mayor", "person", ["{s} has {o} as mayor.", "{s} is governed by {o}."], ["Who governs {s}?"]),
      ],
    },
    {
      kind: "country",
      suffixes: ["Republic", "Kingdom", "Union"],
      introductions: ["{s} is a country.", "{s} has cold winters."],
      relations: [
        relation(
          "capital",
          "city",
          ["{s} has its capital in {o}.", "{s} is ruled from {o}."],
          ["From where is {s} ruled?"],
        ),
        relation("president", "person", ["{s} is led by {o}.", "{s} elected {o} as president."], ["Who leads {s}?"]),
        relation(
          "neighbour",
          "country",
          ["{s} borders {o}.", "{s} shares a border with {o}."],
          ["Which country borders {s}?"],
        ),
      ],
    },
    {
      kind: "river",
      suffixes: ["River"],
      introductions: ["{s} is a river.", "{s} floods in spring."],
      relations: [
        relation(
          "mouth",
          "city",
          ["{s} reaches the sea at {o}.", "{s} ends at {o}."],
          ["Where does {s} reach the sea?"],
        ),
        relation("explorer", "person", ["{s} was explored by {o}.", "{s} was mapped by {o}."], ["Who explored {s}?"]),
      ],
    },
    {
      kind: "book",
      suffixes: ["Garden", "Letters", "Song", "Winter"],
      introductions: ["{s} is a novel.", "{s} is a book of tales."],
      relations: [
        relation("author", "person", ["{s} was written by {o}.", "{s} is the work of {o}."], ["Who wrote {s}?"]),
        relation(
          "publisher",
          "company",
          ["{s} was published by {o}.", "{s} was printed by {o}."],
          ["Who published {s}?"],
        ),
        relation("publication year", "year", ["{s} came out in the year {o}."], ["In which year did {s} come out?"]),
      ],
    },
    {
      kind: "company",
      suffixes: ["Works", "Mills", "Press", "Foundry"],
      introductions: ["{s} is a company.", "{s} employs many people."],
      relations: [
        relation("founder", "person", ["{s} was founded by {o}.", "{s} was started by {o}."], ["Who founded {s}?"]),
        relation("seat", "city", ["{s} has its offices in {o}.", "{s} is based in {o}."], ["Where is {s} based?"]),
        relation("founding year", "year", ["{s} was founded in the year {o}."], ["In which year was {s} founded?"]),
      ],
    },
    {
      kind: "invention",
      suffixes: ["engine", "lens", "loom", "valve"],
      introductions: ["{s} is a machine part.", "{s} is still in use."],
      relations: [
        relation("inventor", "person", ["{s} was invented by {o}.", "{s} was devised by {o}."], ["Who invented {s}?"]),
        relation("maker", "company", ["{s} is made by {o}.", "{s} is sold by {o}."], ["Who makes {s}?"]),
        relation("patent year", "year", ["{s} was patented in the year {o}."], ["In which year was {s} patented?"]),
      ],
    },
    {
      kind: "university",
      suffixes: ["University", "College", "Academy"],
      introductions: ["{s} is a place of learning.", "{s} has a large library."],
      relations: [
        relation("town", "city", ["{s} can be found in {o}.", "{s} has its halls in {o}."], ["In which town is {s}?"]),
        relation("rector", "person", ["{s} is headed by {o}.", "{s} chose {o} as rector."], ["Who heads {s}?"]),
        relation("opening year", "year", ["{s} opened in the year {o}."], ["In which year did {s} open?"]),
      ],
    },
    {
      kind: "museum",
      suffixes: ["Museum", "Gallery"],
      introductions: ["{s} is a house of art.", "{s} is closed on Mondays."],
      relations: [
        relation(
          "location",
          "city",
          ["{s} is located in {o}.", "{s} welcomes visitors in {o}."],
          ["Where is {s} located?"],
        ),
        relation("architect", "person", ["{s} was designed by {o}.", "{s} was planned by {o}."], ["Who designed {s}?"]),
      ],
    },
    {
      kind: "ship",
      suffixes: ["Star", "Dawn", "Pride"],
      introductions: ["{s} is a ship.", "{s} has three masts."],
      relations: [
        relation("captain", "person", ["{s} sailed under {o}.", "{s} was commanded by {o}."], ["Who commanded {s}?"]),
        relation(
          "home port",
          "city",
          ["{s} was at home in {o}.", "{s} had its berth in {o}."],
          ["Where was {s} at home?"],
        ),
        relation("launch year", "year", ["{s} was launched in the year {o}."], ["In which year was {s} launched?"]),
      ],
    },
  ],
};

export const PAPERS: CorpusSchema = {
  id: "papers",
  title: "Research papers",
  kinds: [
    {
      kind: "paper",
      suffixes: ["Report", "Study", "Note"],
      introductions: ["{s} is a short paper.", "{s} has four pages."],
      relations: [
        relation("first author", "person", ["{s} was led by {o}.", "{s} has {o} as first author."], ["Who led {s}?"]),
        relation("method", "method", ["{s} relies on {o}.", "{s} applies {o}."], ["Which method does {s} apply?"]),
        relation("data set", "dataset", ["{s} is tested on {o}.", "{s} evaluates on {o}."], ["On what is {s} tested?"]),
        relation("year", "year", ["{s} appeared in the year {o}."], ["In which year did {s} appear?"]),
      ],
    },
    {
      kind: "method",
      suffixes: ["method", "solver", "filter"],
      introductions: ["{s} is a numerical method.", "{s} is simple to state."],
      relations: [
        relation("originator", "person", ["{s} goes back to {o}.", "{s} was proposed by {o}."], ["Who proposed {s}?"]),
        relation("predecessor", "method", ["{s} improves on {o}.", "{s} extends {o}."], ["What does {s} extend?"]),
      ],
    },
    {
      kind: "dataset",
      suffixes: ["corpus", "survey"],
      introductions: ["{s} is a data set.", "{s} is freely available."],
      relations: [
        relation(
          "collector",
          "laboratory",
          ["{s} was collected at {o}.", "{s} was gathered by {o}."],
          ["Who gathered {s}?"],
        ),
        relation("release year", "year", ["{s} was released in the year {o}."], ["In which year was {s} released?"]),
      ],
    },
    {
      kind: "laboratory",
      suffixes: ["Lab", "Institute"],
      introductions: ["{s} is a research group.", "{s} holds a seminar on Fridays."],
      relations: [
        relation("director", "person", ["{s} is directed by {o}.", "{s} has {o} as director."], ["Who directs {s}?"]),
        relation("city", "city", ["{s} works in {o}.", "{s} moved to {o}."], ["In which city does {s} work?"]),
      ],
    },
    {
      kind: "person",
      suffixes: [],
      introductions: ["{s} does research.", "{s} gives clear talks."],
      relations: [
        relation("laboratory", "laboratory", ["{s} works at {o}.", "{s} joined {o}."], ["Where does {s} work?"]),
        relation("adviser", "person", ["{s} was advised by {o}.", "{s} had {o} as adviser."], ["Who advised {s}?"]),
        relation("birth year", "year", ["{s} was born in the year {o}."], ["In which year was {s} born?"]),
      ],
    },
    {
      kind: "city",
      suffixes: [],
      introductions: ["{s} hosts a yearly meeting.", "{s} is a city."],
      relations: [
        relation("mayor", "person", ["{s} has {o} as mayor.", "{s} is governed by {o}."], ["Who governs {s}?"]),
      ],
    },
  ],
};

/** Sentences that mention an entity without stating any relation. `{s}` owns the article, `{x}` is another entity. */
export const DISTRACTORS: readonly string[] = [
  "{s} is often named together with {x}.",
  "{s} should not be confused with {x}.",
  "{s} is mentioned in a letter about {x}.",
  "A song about {x} also names {s}.",
  "Some say that {x} owes much to {s}.",
  "{x} is discussed elsewhere.",
];

/** Sentences that pad long articles. */
export const FILLERS: readonly string[] = [
  "Little else is recorded about {s}.",
  "Many visitors ask about {s} every year.",
  "An old painting shows {s} in the rain.",
  "The early records of {s} were lost in a fire.",
  "A small society keeps the memory of {s} alive.",
  "Children learn a rhyme about {s} at school.",
  "The name of {s} has been spelled in several ways.",
  "A stamp with {s} on it was printed once.",
];
