/** The frame of every room: header, the engine's line, and the room itself. */
import { Outlet } from "@tanstack/react-router";
import classes from "./App.module.css";
import { EngineProblemNotice } from "./components/EngineProblemNotice";
import { Header } from "./components/Header";
import { strings } from "./strings";

export function App() {
  return (
    <div className={classes.frame}>
      {/* Not a link: the address's hash belongs to the router. */}
      <button type="button" className={classes.skip} onClick={() => document.getElementById("main")?.focus()}>
        {strings.skipToRun}
      </button>
      <Header />
      <EngineProblemNotice />
      <Outlet />
    </div>
  );
}
