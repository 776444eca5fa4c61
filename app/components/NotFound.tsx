/** What an unknown address shows. */
import { Link } from "@tanstack/react-router";
import { strings } from "../strings";

export function NotFound() {
  return (
    <main id="main" tabIndex={-1} style={{ padding: "64px 20px", textAlign: "center" }}>
      <h1>{strings.notFound}</h1>
      <Link to="/dual-system">{strings.backToRoom}</Link>
    </main>
  );
}
