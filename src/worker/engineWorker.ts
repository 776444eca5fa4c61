/** The worker's script: one engine behind comlink. */
import { expose } from "comlink";
import { browserLibrary } from "./browserLibrary";
import { browserPython } from "./browserPython";
import { Engine } from "./engine";
import { openBrowserDevice } from "./openDevice";
import { browserArchive } from "./trainingArchive";

/** The list of tables is loaded with the first PDF that needs one. */
const readCMap = async (name: string) => (await import("./cmaps")).fetchCMap(name);

expose(new Engine(openBrowserDevice, browserPython(), browserArchive(), readCMap, browserLibrary()));
