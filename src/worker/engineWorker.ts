/** The worker's script: one engine behind comlink. */
import { expose } from "comlink";
import { browserPython } from "./browserPython";
import { Engine } from "./engine";
import { openWebGpu } from "./openDevice";
import { browserArchive } from "./trainingArchive";

expose(new Engine(openWebGpu, browserPython(), browserArchive()));
