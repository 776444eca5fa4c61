/** The sets of links at hand in the worker: those of the page, those trained in this tab, those of a file. */
import { create } from "zustand";
import type { EngineProblem } from "../../src/worker/protocol";
import type { FileOutcome, LinkFile, LinkSetInfo, LinksOutcome } from "../../src/worker/recursionProtocol";
import { SHIPPED_LINKS } from "../models";
import { engine } from "./engineStore";

export interface LinksState {
  sets: Readonly<Record<string, LinkSetInfo>>;
  /** Why a set is not there, by its handle. */
  problems: Readonly<Record<string, EngineProblem>>;
}

export const useLinks = create<LinksState>(() => ({ sets: {}, problems: {} }));

let fetching: Promise<void> | undefined;

/** Fetches the links of the page, once. */
export function fetchShippedLinks(): Promise<void> {
  fetching ??= settle("shipped", () =>
    engine().fetchLinks("shipped", new URL(SHIPPED_LINKS, document.baseURI).href),
  ).then((isThere) => {
    if (!isThere) fetching = undefined;
  });
  return fetching;
}

/** Opens a file of links. Resolves to whether it could be used. */
export function openLinkFile(file: LinkFile): Promise<boolean> {
  return settle("opened", () => engine().openLinks("opened", file));
}

/** Notes a set that the worker made itself. */
export function noteLinks(info: LinkSetInfo): void {
  useLinks.setState(({ sets }) => ({ sets: { ...sets, [info.id]: info } }));
}

export async function exportLinks(id: string): Promise<FileOutcome> {
  try {
    return await engine().exportLinks(id);
  } catch (error) {
    return { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
}

async function settle(id: string, call: () => Promise<LinksOutcome>): Promise<boolean> {
  let outcome: LinksOutcome;
  try {
    outcome = await call();
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  const { problems } = useLinks.getState();
  const { [id]: _, ...others } = problems;
  if (outcome.status === "failed") {
    useLinks.setState({ problems: { ...others, [id]: outcome.problem } });
    return false;
  }
  useLinks.setState({ problems: others });
  noteLinks(outcome.info);
  return true;
}
