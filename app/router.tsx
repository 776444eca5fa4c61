/** Routes of the page. The history lives in the hash, so that any static host can serve it. */
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  redirect,
  stripSearchParams,
} from "@tanstack/react-router";
import { App } from "./App";
import { NotFound } from "./components/NotFound";
import { DualSystemRoom } from "./rooms/dualSystem/DualSystemRoom";
import { DEFAULTS, searchSchema } from "./rooms/dualSystem/search";

const rootRoute = createRootRoute({ component: App, notFoundComponent: NotFound });

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/dual-system" });
  },
});

const dualSystemRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/dual-system",
  validateSearch: searchSchema,
  search: { middlewares: [stripSearchParams(DEFAULTS)] },
  component: DualSystemRoom,
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([indexRoute, dualSystemRoute]),
  history: createHashHistory(),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
