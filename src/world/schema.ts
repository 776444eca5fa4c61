/**
 * What can be said and asked in a world: kinds of entities, their functional relations, and for each relation the
 * sentences that state it, the phrase that names it and the questions that ask for it. `{s}` is the subject, `{o}` the
 * object. Every sentence names its subject in full, so that a quote stands on its own; names end with their invented word
 * and two words join it to the object, so that what tells a fact from another stands close to its object.
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
  /** Words that stand before the invented word; empty: the word alone. For people the invented word is the last name. */
  prefixes: readonly string[];
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
  prefixes: [],
  introductions: ["{s} kept a diary.", "{s} liked long walks.", "{s} wrote many letters."],
  relations: [
    relation("birthplace", "city", ["{s} came from {o}.", "{s} hailed from {o}."], ["Where was {s} born?"]),
    relation("birth year", "year", ["{s} lived from {o}."], ["In which year was {s} born?"]),
    relation("university", "university", ["{s} studied at {o}.", "{s} graduated from {o}."], ["Where did {s} study?"]),
    relation("teacher", "person", ["{s} learned from {o}.", "{s} trained under {o}."], ["Who taught {s}?"]),
  ],
};

export const ENCYCLOPEDIA: CorpusSchema = {
  id: "encyclopedia",
  title: "Encyclopedia",
  kinds: [
    person,
    {
      kind: "city",
      prefixes: [],
      introductions: ["{s} is a city.", "{s} is an old town.", "{s} is known for its market."],
      relations: [
        relation("country", "country", ["{s} lies in {o}.", "{s} belongs to {o}."], ["In which country is {s}?"]),
        relation("river", "river", ["{s} stands on {o}.", "{s} sits beside {o}."], ["On which river is {s}?"]),
        relation("mayor", "person", ["{s} listens to {o}.", "{s} answers to {o}."], ["Who governs {s}?"]),
      ],
    },
    {
      kind: "country",
      prefixes: ["Republic", "Kingdom", "Union"],
      introductions: ["{s} is a country.", "{s} has cold winters."],
      relations: [
        relation("capital", "city", ["{s} centres on {o}.", "{s} looks to {o}."], ["From where is {s} ruled?"]),
        relation("president", "person", ["{s} trusts in {o}.", "{s} stands behind {o}."], ["Who leads {s}?"]),
        relation("neighbour", "country", ["{s} borders on {o}.", "{s} ends at {o}."], ["Which country borders {s}?"]),
      ],
    },
    {
      kind: "river",
      prefixes: ["River"],
      introductions: ["{s} is a river.", "{s} floods in spring."],
      relations: [
        relation("mouth", "city", ["{s} flows into {o}.", "{s} runs towards {o}."], ["Where does {s} reach the sea?"]),
        relation("explorer", "person", ["{s} opened to {o}.", "{s} yielded to {o}."], ["Who explored {s}?"]),
      ],
    },
    {
      kind: "book",
      prefixes: ["Ballad", "Song", "Tale", "Letters"],
      introductions: ["{s} is a novel.", "{s} is a book of tales."],
      relations: [
        relation("author", "person", ["{s} sprang from {o}.", "{s} stems from {o}."], ["Who wrote {s}?"]),
        relation("publisher", "company", ["{s} appeared with {o}.", "{s} sold through {o}."], ["Who published {s}?"]),
        relation("publication year", "year", ["{s} dates from {o}."], ["In which year did {s} come out?"]),
      ],
    },
    {
      kind: "company",
      prefixes: ["Mill", "Press", "Foundry", "Works"],
      introductions: ["{s} is a company.", "{s} employs many people."],
      relations: [
        relation("founder", "person", ["{s} began with {o}.", "{s} started under {o}."], ["Who founded {s}?"]),
        relation("seat", "city", ["{s} works from {o}.", "{s} sits in {o}."], ["Where is {s} based?"]),
        relation("founding year", "year", ["{s} dates from {o}."], ["In which year was {s} founded?"]),
      ],
    },
    {
      kind: "invention",
      prefixes: ["Engine", "Lens", "Loom", "Valve"],
      introductions: ["{s} is a machine part.", "{s} is still in use."],
      relations: [
        relation("inventor", "person", ["{s} sprang from {o}.", "{s} stems from {o}."], ["Who invented {s}?"]),
        relation("maker", "company", ["{s} ships from {o}.", "{s} sells through {o}."], ["Who makes {s}?"]),
        relation("patent year", "year", ["{s} dates from {o}."], ["In which year was {s} patented?"]),
      ],
    },
    {
      kind: "university",
      prefixes: ["College", "Academy"],
      introductions: ["{s} is a place of learning.", "{s} has a large library."],
      relations: [
        relation("town", "city", ["{s} stands in {o}.", "{s} rests in {o}."], ["In which town is {s}?"]),
        relation("rector", "person", ["{s} answers to {o}.", "{s} listens to {o}."], ["Who heads {s}?"]),
        relation("opening year", "year", ["{s} dates from {o}."], ["In which year did {s} open?"]),
      ],
    },
    {
      kind: "museum",
      prefixes: ["Museum", "Gallery"],
      introductions: ["{s} is a house of art.", "{s} is closed on Mondays."],
      relations: [
        relation("location", "city", ["{s} opens in {o}.", "{s} stands in {o}."], ["Where is {s} located?"]),
        relation("architect", "person", ["{s} sprang from {o}.", "{s} stems from {o}."], ["Who designed {s}?"]),
      ],
    },
    {
      kind: "ship",
      prefixes: ["Clipper", "Ketch", "Schooner"],
      introductions: ["{s} is a ship.", "{s} has three masts."],
      relations: [
        relation("captain", "person", ["{s} sailed under {o}.", "{s} served under {o}."], ["Who commanded {s}?"]),
        relation("home port", "city", ["{s} berths in {o}.", "{s} winters in {o}."], ["Where was {s} at home?"]),
        relation("launch year", "year", ["{s} dates from {o}."], ["In which year was {s} launched?"]),
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
      prefixes: ["Report", "Study", "Note"],
      introductions: ["{s} is a short paper.", "{s} has four pages."],
      relations: [
        relation("first author", "person", ["{s} sprang from {o}.", "{s} stems from {o}."], ["Who led {s}?"]),
        relation("method", "method", ["{s} relies on {o}.", "{s} rests on {o}."], ["Which method does {s} apply?"]),
        relation("data set", "dataset", ["{s} runs on {o}.", "{s} leans on {o}."], ["On what is {s} tested?"]),
        relation("year", "year", ["{s} dates from {o}."], ["In which year did {s} appear?"]),
      ],
    },
    {
      kind: "method",
      prefixes: ["Method", "Solver", "Filter"],
      introductions: ["{s} is a numerical method.", "{s} is simple to state."],
      relations: [
        relation("originator", "person", ["{s} sprang from {o}.", "{s} stems from {o}."], ["Who proposed {s}?"]),
        relation("predecessor", "method", ["{s} improves on {o}.", "{s} builds on {o}."], ["What does {s} extend?"]),
      ],
    },
    {
      kind: "dataset",
      prefixes: ["Corpus", "Survey"],
      introductions: ["{s} is a data set.", "{s} is freely available."],
      relations: [
        relation("collector", "laboratory", ["{s} came from {o}.", "{s} grew at {o}."], ["Who gathered {s}?"]),
        relation("release year", "year", ["{s} dates from {o}."], ["In which year was {s} released?"]),
      ],
    },
    {
      kind: "laboratory",
      prefixes: ["Lab", "Institute"],
      introductions: ["{s} is a research group.", "{s} holds a seminar on Fridays."],
      relations: [
        relation("director", "person", ["{s} answers to {o}.", "{s} listens to {o}."], ["Who directs {s}?"]),
        relation("city", "city", ["{s} works in {o}.", "{s} sits in {o}."], ["In which city does {s} work?"]),
      ],
    },
    {
      kind: "person",
      prefixes: [],
      introductions: ["{s} does research.", "{s} gives clear talks."],
      relations: [
        relation("laboratory", "laboratory", ["{s} works at {o}.", "{s} belongs to {o}."], ["Where does {s} work?"]),
        relation("adviser", "person", ["{s} learned from {o}.", "{s} trained under {o}."], ["Who advised {s}?"]),
        relation("birth year", "year", ["{s} lived from {o}."], ["In which year was {s} born?"]),
      ],
    },
    {
      kind: "city",
      prefixes: [],
      introductions: ["{s} hosts a yearly meeting.", "{s} is a city."],
      relations: [relation("mayor", "person", ["{s} listens to {o}.", "{s} answers to {o}."], ["Who governs {s}?"])],
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
