/** The frame of every room: header, the engine's line, and the room itself; inside another page what that page asks for. */
import { Outlet } from "@tanstack/react-router";
import { useEffect } from "react";
import classes from "./App.module.css";
import { EmbedLine } from "./components/EmbedLine";
import { EngineNotice } from "./components/EngineNotice";
import { EngineProblemNotice } from "./components/EngineProblemNotice";
import { useHiddenParts } from "./components/embed";
import { Header } from "./components/Header";
import { RoomNav } from "./components/RoomNav";
import { SettingsUndo } from "./components/SettingsUndo";
import { listenForKeys } from "./keys";
import { strings } from "./strings";

export function App() {
  const hidden = useHiddenParts();
  useEffect(listenForKeys, []);
  return (
    <div className={classes.frame}>
      {/* Not a link: the address's hash belongs to the router. */}
      <button type="button" className={classes.skip} onClick={() => document.getElementById("main")?.focus()}>
        {strings.skipToRun}
      </button>
      {!hidden.has("header") && <Header />}
      {!hidden.has("rooms") && <RoomNav />}
      <EngineProblemNotice />
      <EngineNotice />
      <Outlet />
      {(hidden.has("header") || hidden.has("controls")) && <EmbedLine />}
      <SettingsUndo />
    </div>
  );
}
