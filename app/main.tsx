/** Entry of the page: styles, theme, router. */
import "./parsers";
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./mantine.css";
import "./tokens.css";
import { MantineProvider } from "@mantine/core";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./router";
import { cssVariables, theme } from "./theme";

/** After this time the page's frame is drawn, whether the room has arrived or not. */
const ROOM_WAIT_MS = 600;

function draw(): void {
  createRoot(document.getElementById("root")!).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
        <RouterProvider router={router} />
      </MantineProvider>
    </StrictMode>,
  );
}

// Frame and room are drawn at once when they can be: each drawing lays out the whole page. Not awaited here, because the
// room's code waits for the end of this module.
void Promise.race([router.load(), new Promise((resolve) => setTimeout(resolve, ROOM_WAIT_MS))]).then(draw, draw);
