/**
 * Every room as it opens, in light and dark, compared with pictures in tests/e2e/screenshots. Fonts come with the page,
 * so that small differences are those of antialiasing; a colour or a layout that changed fails. What names the device
 * is covered. After a wanted change: `npx playwright test screenshots --update-snapshots`, and look at the pictures.
 */
import { expect, type Locator, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { engineLine, picture, presets, test } from "./room";

interface Room {
  name: string;
  path: string;
  /** What stands there when the room is drawn. */
  drawn: (page: Page) => Locator;
  covered?: (page: Page) => Locator[];
}

const ROOMS: readonly Room[] = [
  { name: "dual-system", path: "dual-system", drawn: picture },
  {
    name: "bin-packing",
    path: "bin-packing",
    drawn: (page) => page.getByRole("region", { name: strings.transport.label }),
  },
  {
    name: "latent-recursion",
    path: "latent-recursion",
    drawn: (page) => page.getByRole("region", { name: strings.transport.label }),
  },
  {
    name: "link-training",
    path: "link-training",
    drawn: (page) => page.getByRole("heading", { name: strings.rooms.linkTraining.title }),
  },
];

for (const colorScheme of ["light", "dark"] as const) {
  for (const { name, path, drawn, covered } of ROOMS) {
    test(`${name}, ${colorScheme}`, async ({ page, context }) => {
      // The weights never arrive: the pictures show what a visitor sees before anything computes.
      await context.route("**/*.safetensors", () => {});
      await page.setViewportSize({ width: 1200, height: 760 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.goto(`#/${path}?depth=lab`);
      await expect(drawn(page).first()).toBeVisible({ timeout: 60_000 });
      if (name === "dual-system") await expect(presets(page).first()).toBeVisible({ timeout: 60_000 });
      await page.evaluate(() => document.fonts.ready);
      await expect(page).toHaveScreenshot(`${name}-${colorScheme}.png`, {
        mask: [engineLine(page), ...(covered?.(page) ?? [])],
        timeout: 60_000,
      });
    });
  }
}
