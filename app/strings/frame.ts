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
  },

  busy: {
    jobs: {
      research: "A dual-system run is going on.",
      recursion: "A latent recursion is going on.",
      evaluation: "Links are being evaluated.",
      training: "Links are being trained.",
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
    software: "software device",
    hardware: "GPU",
    parameters: (count: string) => `${count} parameters`,
    loading: (loaded: string, total: string) => `Loading: ${loaded} of ${total}`,
    preparing: "Preparing the device and the shaders",
    progressLabel: "The weights of the agents",
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
