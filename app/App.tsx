/** The frame of every room: header, the engine's line, and the room itself; inside another page only the room. */
import { Outlet } from "@tanstack/react-router";
import { useEffect } from "react";
import classes from "./App.module.css";
import { useFrameSearch } from "./components/depth";
import { EmbedLine } from "./components/EmbedLine";
import { EngineNotice } from "./components/EngineNotice";
import { EngineProblemNotice } from "./components/EngineProblemNotice";
import { Header } from "./components/Header";
import { SettingsUndo } from "./components/SettingsUndo";
import { listenForKeys } from "./keys";
import { strings } from "./strings";

export function App() {
  const { embed } = useFrameSearch();
  useEffect(listenForKeys, []);
  return (
    <div className={classes.frame}>
      {/* Not a link: the address's hash belongs to the router. */}
      <button type="button" className={classes.skip} onClick={() => document.getElementById("main")?.focus()}>
        {strings.skipToRun}
      </button>
      {!embed && <Header />}
      <EngineProblemNotice />
      <EngineNotice />
      <Outlet />
      {embed && <EmbedLine />}
      <SettingsUndo />
    </div>
  );
}
