/** The worker's script: one engine behind comlink. */
import { expose } from "comlink";
import { Engine } from "./engine";
import { openUrlModel } from "./openModel";

expose(new Engine(openUrlModel));
