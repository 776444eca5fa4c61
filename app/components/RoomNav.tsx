/** The way from room to room: every route that calls itself a room, in the order of the route tree. */
import { type AnyRoute, Link, useLocation, useRouter } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useKeys } from "../keys";
import { strings } from "../strings";
import classes from "./RoomNav.module.css";

export function RoomNav() {
  const router = useRouter();
  const rooms = useRooms();
  const lastSearch = useLastSearch();
  const list = useRef<HTMLUListElement>(null);
  const { pathname } = useLocation();
  // Digits open rooms, as they open the tabs of a browser.
  useKeys({
    room: (digit) => {
      const path = rooms[Number(digit) - 1]?.path;
      if (path !== undefined) void router.navigate({ to: path, search: lastSearch.current.get(path) ?? {} });
    },
  });
  // On a narrow screen the list scrolls, when it has been drawn: scrolling lays out the page.
  useEffect(() => {
    const frame = requestAnimationFrame(() =>
      setTimeout(() =>
        list.current
          ?.querySelector(`[data-path="${pathname}"]`)
          ?.scrollIntoView({ block: "nearest", inline: "center", behavior: "instant" }),
      ),
    );
    return () => cancelAnimationFrame(frame);
  }, [pathname]);
  return (
    <nav className={classes.nav} aria-label={strings.rooms.label}>
      <ul className={classes.list} ref={list}>
        {rooms.map(({ path, title, question }) => (
          <li key={path} data-path={path}>
            <Link to={path} search={lastSearch.current.get(path) ?? {}} className={classes.link} title={question}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export function useRooms(): { path: string; title: string; question: string }[] {
  const router = useRouter();
  return Object.values((router.routeTree as AnyRoute).children ?? {}).flatMap((route) => {
    const { fullPath, options } = route as AnyRoute;
    const room = options.staticData?.room;
    return room ? [{ path: fullPath as string, ...room }] : [];
  });
}

/** The search parameters with which each room was left, so that coming back finds it as it was. */
function useLastSearch() {
  const last = useRef(new Map<string, object>());
  const { pathname, search } = useLocation();
  last.current.set(pathname, search);
  return last;
}
