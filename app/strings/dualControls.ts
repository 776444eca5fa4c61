/** The words of the dual-system run's controls: the question, where it is looked up, with what, and how. */
export const dualControls = {
  ask: {
    more: "corpora and own documents, tools, settings of the run, runs from files, batches of questions",
    label: "Ask",
    question: "Question",
    placeholder: "Where was … born?",
    ask: "Ask",
    stop: "Stop",
    stopping: "Stopping",
    keys: [
      ["Enter", "ask"],
      ["Esc", "stop"],
      ["N", "new question"],
    ],
    presets: "Try a question",
    hops: (count: number) => (count === 1 ? "1 look-up" : `${count} look-ups`),
    arithmetic: "years",
    fresh: "New question",
    freshHint: "From a new world, invented in this tab from a new seed.",
    home: "Back to the first world",
    pieces: { encyclopedia: "article", papers: "document" },
    corpus: (articles: string, seed: number) => `${articles}, seed ${seed}`,
    making: "Inventing the world",
    worldFailed: "The world could not be made:",
    honest:
      "The model is a tiny agent that we trained ourselves. It knows how to research the kinds of questions listed above, in these words, and nothing else.",
  },

  corpus: {
    label: "Search looks in",
    names: {
      encyclopedia: "The shipped encyclopedia",
      papers: "The shipped papers",
      own: "Your own documents",
      wikipedia: "Wikipedia, live",
      openalex: "OpenAlex, live",
    },
    help: {
      encyclopedia: "Invented from a seed, so that no model can know it by heart.",
      papers: "Short research papers, invented from a seed.",
      own: "Files that you drop here. They are read in this tab and go nowhere.",
      wikipedia: "Articles are fetched over the network while the agent works.",
      openalex: "Research papers with their abstracts, fetched over the network.",
    },
    ask: "Write a question above. It is answered from what the search finds there.",
    honest: (example: string) =>
      `The shipped agent is tiny: it can follow sentences and questions in the words that it was trained on, such as “${example}”. For other texts use a larger model.`,
  },

  own: {
    drop: "Drop files or a folder here, or choose them:",
    files: "Files",
    folder: "Folder",
    sample: "Use sample files",
    formats: "Text, Markdown, HTML, CSV, JSON, JSON Lines, PDF",
    waiting: "Waiting for the agent, whose tokens size the passages",
    reading: (done: string, total: string) => `Read ${done} of ${total} files`,
    progress: "Reading the files",
    now: (name: string, passages: string) => `${name} · ${passages} so far`,
    cancel: "Cancel",
    cancelled: "Reading was cancelled; nothing was added.",
    summary: (files: string, passages: string, tokens: number) =>
      `${files}, ${passages} of at most ${tokens} tokens. They stay in this tab until you close it.`,
    hidden: (count: string) => `${count} hidden files or folders were left out.`,
    read: (files: string) => `${files} read`,
    skipped: (files: string) => `${files} skipped`,
    more: (count: number) => `and ${count} more`,
    remove: (name: string) => `Remove ${name}`,
    removeAll: "Remove all",
    kinds: {
      text: "text",
      markdown: "Markdown",
      html: "HTML",
      csv: "table",
      json: "JSON",
      jsonl: "JSON Lines",
      pdf: "PDF",
    },
  },

  sites: {
    notices: {
      wikipedia: (language: string) =>
        `Search words that the model writes, and the numbers of the articles found, are sent to Wikipedia (${language}.wikipedia.org), which sees your IP address.`,
      openalex: (_: string) =>
        "Search words that the model writes are sent to OpenAlex (api.openalex.org), a catalogue of research papers, which sees your IP address.",
    },
    allow: { wikipedia: "Allow requests to Wikipedia", openalex: "Allow requests to OpenAlex" },
    allowed: "Allowed until you close this tab. Switching off ends a request under way.",
    forbidden: "Nothing is sent until you allow it; the tool tells System 2 that the network is off.",
    key: "OpenAlex key (optional)",
    keyHelp: "A free key allows more searches a day. It is sent to OpenAlex only, and forgotten with this tab.",
    language: "Language",
    languageHelp: "Which Wikipedia: en, de, zh-yue, …",
  },

  tools: {
    title: "Tools",
    search: { label: "search", help: "Finds documents. Off: System 2 must do without them." },
    python: { label: "python", help: "Runs programs in this tab; about 13 MB are loaded with the first." },
    scholar: {
      label: "scholar",
      help: "Finds research papers, as a tool of its own.",
      sources: { off: "off", papers: "shipped papers", openalex: "OpenAlex, live" },
    },
    wikipedia: { label: "wikipedia", help: "Searches Wikipedia, as a tool of its own." },
    patience: { label: "Time limit (s)", help: "Of one request over the network; it is tried up to three times." },
    honest:
      "The shipped agents were trained with search and python only, and will hardly call other tools. To see them search the network, let “Search looks in” be a live site.",
  },

  settings: {
    automatic: "auto",
    system1: {
      label: "System 1",
      help: "Off: System 2 reads the raw documents itself.",
    },
    capacity: {
      label: "Bin capacity (tokens)",
      help: "How much one reader gets. Smaller bins mean more readers side by side.",
    },
    results: {
      label: "Search results",
      help: "How many documents one search returns.",
    },
    turns: {
      label: "Turn limit",
      help: "After this many turns the run ends without an answer.",
    },
    temperature: {
      label: "Temperature",
      help: "0 always takes the likeliest word; higher values try others.",
    },
    parallel: {
      label: "Bins at once",
      help: "How many bins System 1 reads side by side; the others wait. Empty: all.",
      all: "all",
    },
    packing: {
      label: "Packing",
      help: "How documents come into bins.",
      algorithms: {
        ffd: "First Fit Decreasing",
        ff: "First Fit",
        nf: "Next Fit",
        bf: "Best Fit",
        one: "one a bin",
      },
    },
    seed: {
      label: "Sampling seed",
      help: "The same seed draws the same words. Matters above temperature 0.",
    },
  },
} as const;
