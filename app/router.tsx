/**
 * Routes of the page: one entry a room. The history lives in the hash, so that any static host can serve it. A room's
 * `staticData` puts it into the navigation, in the order of the tree; its code is fetched when it is first opened.
 */
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
  stripSearchParams,
} from "@tanstack/react-router";
import { App } from "./App";
import { frameSearchSchema } from "./components/depth";
import { NotFound } from "./components/NotFound";
import { RoomFailed } from "./components/RoomFailed";
import { fetchTrace } from "./engine/shippedTrace";
import { DEFAULTS as BIN_PACKING_DEFAULTS, searchSchema as binPackingSearch } from "./rooms/binPacking/search";
import { recordedFile } from "./rooms/dualSystem/recorded";
import { DEFAULTS as DUAL_SYSTEM_DEFAULTS, searchSchema as dualSystemSearch } from "./rooms/dualSystem/search";
import {
  DEFAULTS as LATENT_RECURSION_DEFAULTS,
  searchSchema as latentRecursionSearch,
} from "./rooms/latentRecursion/search";
import { DEFAULTS as LINK_TRAINING_DEFAULTS, searchSchema as linkTrainingSearch } from "./rooms/linkTraining/search";
import { DEFAULTS as MODELS_DEFAULTS, searchSchema as modelsSearch } from "./rooms/models/search";
import { chooseEngine } from "./stores/engineStore";
import { strings } from "./strings";

const { rooms } = strings;

/** A room waits this long at most for the recorded run that it opens on. */
const PICTURE_WAIT_MS = 1_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const rootRoute = createRootRoute({
  component: App,
  notFoundComponent: NotFound,
  validateSearch: frameSearchSchema,
  // From room to room the page stays as deep, on the same engine, and inside the page that it stands in.
  search: { middlewares: [retainSearchParams(["depth", "engine", "embed", "hide"])] },
  // Before any room asks for its models.
  beforeLoad: ({ search }) => chooseEngine(search.engine ?? "auto"),
});

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/dual-system", search });
  },
});

const dualSystemRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/dual-system",
  staticData: { room: rooms.dualSystem },
  validateSearch: dualSystemSearch,
  search: { middlewares: [stripSearchParams(DUAL_SYSTEM_DEFAULTS)] },
  // While the room's code is still on its way: the first picture needs both, and is drawn when both are there.
  beforeLoad: ({ search }) => {
    const file = recordedFile(search);
    if (file !== undefined) void fetchTrace(file);
  },
  loader: async ({ location }) => {
    const { showRecorded } = await import("./rooms/dualSystem/DualSystemRoom");
    await Promise.race([showRecorded(dualSystemSearch.parse(location.search)), pause(PICTURE_WAIT_MS)]);
  },
  component: lazyRouteComponent(() => import("./rooms/dualSystem/DualSystemRoom"), "DualSystemRoom"),
});

const binPackingRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/bin-packing",
  staticData: { room: rooms.binPacking },
  validateSearch: binPackingSearch,
  search: { middlewares: [stripSearchParams(BIN_PACKING_DEFAULTS)] },
  component: lazyRouteComponent(() => import("./rooms/binPacking/BinPackingRoom"), "BinPackingRoom"),
});

const latentRecursionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/latent-recursion",
  staticData: { room: rooms.latentRecursion },
  validateSearch: latentRecursionSearch,
  search: { middlewares: [stripSearchParams(LATENT_RECURSION_DEFAULTS)] },
  component: lazyRouteComponent(() => import("./rooms/latentRecursion/LatentRecursionRoom"), "LatentRecursionRoom"),
});

const linkTrainingRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/link-training",
  staticData: { room: rooms.linkTraining },
  validateSearch: linkTrainingSearch,
  search: { middlewares: [stripSearchParams(LINK_TRAINING_DEFAULTS)] },
  component: lazyRouteComponent(() => import("./rooms/linkTraining/LinkTrainingRoom"), "LinkTrainingRoom"),
});

const modelsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/models",
  staticData: { room: rooms.models },
  validateSearch: modelsSearch,
  search: { middlewares: [stripSearchParams(MODELS_DEFAULTS)] },
  component: lazyRouteComponent(() => import("./rooms/models/ModelsRoom"), "ModelsRoom"),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    indexRoute,
    dualSystemRoute,
    binPackingRoute,
    latentRecursionRoute,
    linkTrainingRoute,
    modelsRoute,
  ]),
  history: createHashHistory(),
  // A room in an old tab may be gone from the server after an update.
  defaultErrorComponent: RoomFailed,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    /** Name and purpose in the navigation; routes without it are not in it. */
    room?: { title: string; question: string };
  }
}
