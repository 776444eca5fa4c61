/** What stands in place of a room that could not be shown. */
import { Button } from "@mantine/core";
import { strings } from "../strings";

const text = strings.roomFailed;

export function RoomFailed({ error }: { error: unknown }) {
  return (
    <main id="main" tabIndex={-1} style={{ padding: "48px 20px", maxWidth: "80ch" }} role="alert">
      <h1>{text.what}</h1>
      <p>{text.why}</p>
      <p>{text.todo}</p>
      <Button onClick={() => location.reload()}>{text.reload}</Button>
      <p>
        <code>{String(error)}</code>
      </p>
    </main>
  );
}
