/** What happened, why, and what to do, for every way in which the engine can fail a visitor. */
import type { ProblemKind } from "../../src/worker/protocol";

interface ProblemText {
  what: string;
  why: string;
  todo: string;
}

export const problems: Record<ProblemKind, ProblemText> = {
  insecureContext: {
    what: "This address is not secure, so the browser keeps WebGPU switched off.",
    why: "Browsers offer WebGPU only to pages that come over https or from localhost.",
    todo: "Open the page over https, or run it on your own machine and open it as localhost.",
  },
  noWebGpu: {
    what: "This browser has no WebGPU.",
    why: "The language model runs on your graphics device through WebGPU, and this browser does not offer it.",
    todo: "Use a current Chrome, Edge or Safari, or a recent Firefox. In Chrome on Linux, WebGPU may have to be switched on under chrome://flags.",
  },
  noAdapter: {
    what: "WebGPU is there, but it found no graphics device.",
    why: "The browser has hardware acceleration switched off, or it does not trust this machine's graphics driver.",
    todo: "Switch on hardware acceleration in the browser's settings, update the graphics driver, then reload the page.",
  },
  selfTestFailed: {
    what: "This graphics device did not pass the self-test.",
    why: "An agent whose words are known wrote others on it, or none within a minute, or its driver refused our shaders.",
    todo: "Update the graphics driver or the browser. Until then the engine on the processor gives right answers.",
  },
  needsWebGpu: {
    what: "This needs our own engine on WebGPU.",
    why: "Gradients, and all that is computed with them, exist in our own kernels only; the model runs on another engine.",
    todo: "Choose our engine at the top of the page, on a machine whose browser has WebGPU.",
  },
  textOnly: {
    what: "This model passes on text only.",
    why: "It was loaded for text, or it is an export that takes token ids and gives logits: no vectors go in or come out.",
    todo: "Choose a model from a checkpoint (safetensors) for what needs latent thoughts.",
  },
  deviceLost: {
    what: "The graphics device stopped answering.",
    why: "The driver was restarted, the machine slept, or another program took the device's memory. What was drawn so far is kept.",
    todo: "Load the model again, then ask again. If it happens twice, close other tabs that use the graphics device.",
  },
  outOfMemory: {
    what: "The graphics device has too little free memory.",
    why: "The weights or the working memory of a run did not fit beside what other tabs and programs hold.",
    todo: "Close other tabs that use the graphics device, or ask with a smaller bin capacity and fewer search results.",
  },
  modelFilesMissing: {
    what: "The agent's files could not be fetched.",
    why: "The server that delivered this page did not deliver the model's files, or the connection broke.",
    todo: "Check the connection and try again. If you host the page yourself, its models folder belongs beside index.html.",
  },
  modelInvalid: {
    what: "The agent's files do not fit together.",
    why: "A file is damaged, cut short, or belongs to another model; nothing was loaded.",
    todo: "Reload the page without its cache. If you host the page yourself, copy the models folder again.",
  },
  serverBusy: {
    what: "The server could not deliver the files just now.",
    why: "It answered that it is too busy, or that it failed; the address and the files may be in order.",
    todo: "Wait a little, then try again.",
  },
  storageFull: {
    what: "The browser's storage for this page is full.",
    why: "Browsers allow each page a part of the disk, and less in private windows.",
    todo: "Delete a checkpoint in the room Models and device, or load this one without keeping a copy.",
  },
  storageBusy: {
    what: "Another tab is using these files.",
    why: "Only one tab at a time may write a kept checkpoint or delete it.",
    todo: "Wait until the other tab is done, or close it; then try again.",
  },
  promptTooLong: {
    what: "The text is longer than the model can read.",
    why: "Prompt and answer have to fit into the model's context: the one that was chosen when it was loaded, or all that it has.",
    todo: "Shorten the text, or load the model with a longer context in the room Models and device.",
  },
  unknownToken: {
    what: "The text holds a token that the model does not have.",
    why: "Its tokenizer has tokens that were added without rows in the embedding, and the text or the chat template uses one.",
    todo: "Leave that token out, or continue the text without the chat. To mend the checkpoint, add the missing rows to its embedding.",
  },
  noTemplate: {
    what: "The model's chat template did not write the prompt.",
    why: "The checkpoint has no template, as base models have none, or its template refuses these messages.",
    todo: "Continue the text without the chat, or put the chat_template.jinja of a chat model beside the checkpoint's files and load it again.",
  },
  linksMissing: {
    what: "The links could not be fetched.",
    why: "This page was delivered without trained links, or the connection broke.",
    todo: "Train links of your own in the room Link training, open a file of links, or choose links that need no training.",
  },
  linksInvalid: {
    what: "This file holds no links that can be used.",
    why: "It is damaged, or it is some other file: sets of links are safetensors files that carry their description inside.",
    todo: "Choose a file that was saved here or by the command line.",
  },
  linksMisfit: {
    what: "These links belong to other agents.",
    why: "A link leads from an agent of one width to an agent of another, and these widths differ from those of this ring.",
    todo: "Choose links that were trained for these agents.",
  },
  trainingInvalid: {
    what: "This training run cannot be started or taken up.",
    why: "A setting is out of its range, or a saved run is damaged, of another stage, or of other agents.",
    todo: "Read the details, change the setting, or begin a new run.",
  },
  trainingMissing: {
    what: "There is no saved training run.",
    why: "This browser has none, or its data were deleted.",
    todo: "Begin a new run, or open one from a file.",
  },
  noDocuments: {
    what: "There are no documents of your own to search.",
    why: "None have been read in this tab yet, or none of the files held text. Files stay in the tab; a link does not carry them.",
    todo: "Drop files or a folder into the panel, or let the search look elsewhere.",
  },
  engineFailed: {
    what: "The engine stopped with an error of its own.",
    why: "This is a fault of the page, not of your machine.",
    todo: "Reload the page and ask again. The details below help to find the fault.",
  },
};
