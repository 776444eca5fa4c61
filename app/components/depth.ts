/** How deep the page goes: "learn" shows few controls and the tour, "lab" everything. The address wins over memory. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { z } from "zod";
import { ENGINE_CHOICES } from "../../src/worker/loadProtocol";

export const DEPTHS = ["learn", "lab"] as const;
export type Depth = (typeof DEPTHS)[number];

/** Search parameters of every room. */
export const frameSearchSchema = z.object({
  depth: z.enum(DEPTHS).optional().catch(undefined),
  /** What models run on; absent: what fits this machine. */
  engine: z.enum(ENGINE_CHOICES).optional().catch(undefined),
  /** 1: the page stands inside another one, without what leads elsewhere. */
  embed: z.literal(1).optional().catch(undefined),
  /** Parts that are left out, by name, with commas between (embed.ts). */
  hide: z.string().max(200).optional().catch(undefined),
});
export type FrameSearch = z.infer<typeof frameSearchSchema>;

const MEMORY = "twinloop.depth";

function remembered(): Depth {
  try {
    const found = localStorage.getItem(MEMORY);
    return DEPTHS.find((depth) => depth === found) ?? "learn";
  } catch {
    return "learn";
  }
}

export function useFrameSearch(): FrameSearch {
  return useSearch({ strict: false });
}

/** Whether everything is shown. */
export function useInLab(): boolean {
  return useDepth().depth === "lab";
}

export function useDepth(): { depth: Depth; setDepth: (depth: Depth) => void } {
  const { depth } = useFrameSearch();
  const navigate = useNavigate();
  return {
    depth: depth ?? remembered(),
    setDepth: (next) => {
      try {
        localStorage.setItem(MEMORY, next);
      } catch {
        // Without storage the address alone remembers it.
      }
      void navigate({ to: ".", search: (previous) => ({ ...previous, depth: next }), replace: true });
    },
  };
}
