/** The words of the frame that all rooms share: header, engine, errors, the inspector. */
import { problems } from "./problems";

export const frame = {
  product: "Twinloop",
  tagline: "Small agents that research, recurse and train in this tab",
  skipToRun: "Skip to the run",
  lightScheme: "Switch to the light colour scheme",
  darkScheme: "Switch to the dark colour scheme",
  notFound: "There is no such room.",
  backToRoom: "Open the dual-system run",

  rooms: {
    label: "Rooms",
    dualSystem: { title: "Dual-system run", question: "How does System 1 keep System 2's context small?" },
    binPacking: { title: "Bin packing", question: "Why First Fit Decreasing?" },
    latentRecursion: { title: "Latent recursion", question: "What passes between agents when no words do?" },
    linkTraining: { title: "Link training", question: "What does a link learn, in this tab, in minutes?" },
    models: { title: "Models and device", question: "What can this machine run?" },
  },

  depth: {
    label: "How much to show",
    names: { learn: "Learn", lab: "Lab" },
    help: {
      learn: "Learn: few controls, and a tour of the idea. Lab shows every control.",
      lab: "Lab: every control. Learn shows few, and a tour of the idea.",
    },
    adds: (what: string) => `Lab adds ${what}.`,
    toLab: "Show everything",
  },

  embed: { open: "Open in Twinloop" },

  keys: {
    open: "What the keys do (?)",
    title: "Keys",
    close: "Close",
    groups: { page: "Everywhere", room: "In this room", run: "Playback", tour: "The tour" },
    /** As they are printed on keyboards. */
    names: {
      " ": "Space",
      ArrowLeft: "←",
      ArrowRight: "→",
      Shift: "Shift",
      Escape: "Esc",
      Home: "Home",
      End: "End",
      mod: "Ctrl",
    },
    actions: {
      room: "Open a room",
      sheet: "Show this sheet",
      depth: "Switch between Learn and Lab",
      tour: "Begin the tour",
      why: "Show why two systems beat one",
      fresh: "Draw something new from a new seed",
      reset: "Begin again, the same seed",
      trainStep: "Train one step",
      trainPause: "Pause the training, or go on",
      undo: "Take back the last move",
      undoSettings: "Take back the last change of settings",
      redoSettings: "Put on again what was taken back",
      stop: "Stop, or let go of what is selected",
      tourNext: "Next chapter",
      tourBack: "Chapter before",
      tourLeave: "Leave the tour; the room stays as it is",
      play: "Play or pause",
      back: "One step back",
      forward: "One step on",
      markBack: "Back to the last mark",
      markForward: "On to the next mark",
      start: "To the start",
      end: "To the end",
    },
  },

  roomFailed: {
    what: "This room could not be shown.",
    why: "A part of the page did not arrive, or it failed: perhaps the page was renewed on its server while this tab was open.",
    todo: "Reload the page. If it happens again, the words below help to find the fault.",
    reload: "Reload the page",
  },

  settings: {
    title: "Settings",
    changed: (count: number) => `${count} changed`,
    reset: "Reset settings",
    /** Names as the address has them. */
    undone: (names: string) => `Taken back: ${names}`,
    redone: (names: string) => `Put on again: ${names}`,
  },

  busy: {
    jobs: {
      research: "A dual-system run is going on.",
      recursion: "A latent recursion is going on.",
      evaluation: "Links are being evaluated.",
      training: "Links are being trained.",
      batch: "A batch of questions is being researched.",
      measurement: "Packings are being measured.",
      kernelTest: "The kernels are being tested.",
      trial: "A model is being tried.",
      weightError: "The error of a model in fewer bits is being measured.",
    },
    waits: "The device does one thing at a time.",
    stop: "Stop it",
    pause: "Pause it",
  },

  table: { show: "Show as a table" },

  export: {
    label: (title: string) => `Save: ${title}`,
    csv: "Numbers (CSV)",
    json: "Everything (JSON)",
    png: "Picture (PNG)",
    svg: "Picture (SVG)",
  },

  chart: {
    label: (title: string, points: number) => `${title}, ${points} points`,
    empty: "Nothing measured yet",
  },

  map: {
    label: (title: string, dots: number, ground: number) => `${title}: ${dots} vectors before ${ground} tokens`,
    vector: "Vector",
  },

  heatmap: {
    label: (title: string, count: number) => `${title}, ${count} by ${count}`,
  },

  transport: {
    label: "Playback",
    start: "To the start (Home)",
    back: "One step back (←)",
    play: "Play (Space)",
    pause: "Pause (Space)",
    forward: "One step on (→)",
    end: "To the end (End)",
    position: "Position in the run",
    speed: "Speed",
    at: (position: number, length: number, now: string) => `${position} of ${length}: ${now}`,
    count: (position: number, length: number) => `${position} / ${length}`,
  },

  device: {
    label: "Engine",
    starting: "Starting the engine",
    notNeeded: "This room needs no engine",
    idle: (models: number) => (models === 1 ? "One model loaded" : `${models} models loaded`),
    software: "software device",
    hardware: "GPU",
    parameters: (count: string) => `${count} parameters`,
    loading: (loaded: string, total: string) => `Loading: ${loaded} of ${total}`,
    preparing: "Preparing the engine",
    progressLabel: "What the agents need",
    cancel: "Cancel",
    cancelled: "Loading was cancelled.",
    load: "Load the agents",
    failed: "The engine is not available.",
    softwareHint: "No graphics hardware is used: the device is a program on the processor, so answers take longer.",
    recovered: "The graphics device was lost and has been replaced; the agents are loaded again. Start once more.",
    dismiss: "Dismiss",
  },

  error: {
    problems,
    why: "Why",
    todo: "What to do",
    details: "Details",
    copy: "Copy details",
    copied: "Copied",
    retry: "Try again",
  },

  inspector: {
    label: "Inspector",
    close: "Close the inspector",
    prompt: "Exact prompt",
    output: "Exact output",
    copy: "Copy",
    copied: "Copied",
    tokensIn: "Tokens in",
    tokensOut: "Tokens out",
    tokens: "Tokens",
    time: "Time",
    speed: "Tokens per second",
    pending: "still being written",
  },
} as const;
