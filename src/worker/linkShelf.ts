/** The sets of links at hand, each under a handle that the page gave it. */
import { CheckpointError } from "../checkpoint/errors";
import { LinkError, linkParameterCount } from "../links/linkConfig";
import {
  LINK_SET_MANIFEST,
  LINK_SET_WEIGHTS,
  type LinkSet,
  readLinkSet,
  readLinkSetFiles,
  writeLinkSet,
} from "../links/linkSet";
import { EngineError } from "./problems";
import type { LinkFile, LinkSetInfo } from "./recursionProtocol";

export class LinkShelf {
  private readonly sets = new Map<string, LinkSet>();

  /** @throws EngineError when there is none */
  get(id: string): LinkSet {
    const set = this.sets.get(id);
    if (!set) throw new EngineError("linksMissing", `there is no set of links "${id}"`);
    return set;
  }

  has(id: string): boolean {
    return this.sets.has(id);
  }

  put(id: string, set: LinkSet): LinkSetInfo {
    this.sets.set(id, set);
    return infoOf(id, set);
  }

  info(id: string): LinkSetInfo {
    return infoOf(id, this.get(id));
  }

  /** @throws EngineError naming the file and what is wrong with it */
  read(id: string, { name, bytes }: LinkFile): LinkSetInfo {
    return this.put(
      id,
      named(() => readLinkSet(name, bytes)),
    );
  }

  /**
   * A set out of a folder with its manifest and its weights; one that is there already is kept.
   * @throws EngineError naming the file that is missing or wrong
   */
  async fetch(id: string, folder: string, fetchFile: typeof fetch = fetch): Promise<LinkSetInfo> {
    if (this.sets.has(id)) return this.info(id);
    const files = new Map<string, Uint8Array>();
    for (const file of [LINK_SET_MANIFEST, LINK_SET_WEIGHTS]) {
      files.set(file, await fetchBytes(new URL(file, folder).href, file, fetchFile));
    }
    return this.put(
      id,
      named(() => readLinkSetFiles(files)),
    );
  }

  export(id: string): LinkFile {
    const set = this.get(id);
    return { name: `${set.id}.safetensors`, bytes: writeLinkSet(set) };
  }
}

/** Turns what the readers throw into what the page has a sentence for. */
function named<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LinkError || error instanceof CheckpointError) {
      throw new EngineError("linksInvalid", error.message, { cause: error });
    }
    throw error;
  }
}

async function fetchBytes(url: string, file: string, fetchFile: typeof fetch): Promise<Uint8Array> {
  let response: Response;
  try {
    response = await fetchFile(url);
  } catch (error) {
    throw new EngineError("linksMissing", `${file}: ${(error as Error).message}`, { cause: error });
  }
  // Servers of single pages answer with a page where a file is missing.
  const isPage = response.headers.get("Content-Type")?.includes("text/html");
  if (!response.ok || isPage) {
    throw new EngineError("linksMissing", `${file}: the server answered ${isPage ? "with a page" : response.status}`);
  }
  return new Uint8Array(await response.arrayBuffer());
}

function infoOf(id: string, set: LinkSet): LinkSetInfo {
  const { latentSteps } = set.training;
  const links = [...set.inner, ...set.outer];
  return {
    id,
    name: set.id,
    task: set.task,
    agents: set.agents.map((agent) => ({ ...agent })),
    innerLinks: set.inner.length,
    outerLinks: set.outer.length,
    parameters: links.reduce((sum, { link }) => sum + linkParameterCount(link.config), 0),
    ...(typeof latentSteps === "number" && { latentSteps }),
    training: set.training,
  };
}
