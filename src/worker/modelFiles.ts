/** From where a model lies to a source of its files, for every kind of origin. */
import type { CheckpointSource } from "../checkpoint/checkpoint";
import { urlSource } from "../checkpoint/sources";
import type { ModelOrigin } from "./loadProtocol";

/** @param label what errors call the model */
export function modelFiles(origin: ModelOrigin, label: string, fetchFile: typeof fetch): CheckpointSource {
  switch (origin.kind) {
    case "url":
      return urlSource(origin.url, { label, fetchFile });
  }
}
