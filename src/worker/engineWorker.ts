/** The worker's script: one engine behind comlink. */
import { expose } from "comlink";
import { browserPython } from "./browserPython";
import { Engine } from "./engine";
import { openUrlModel } from "./openModel";

expose(new Engine(openUrlModel, browserPython()));
