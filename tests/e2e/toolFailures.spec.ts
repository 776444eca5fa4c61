/** Sites that fail in every way they know: System 2 reads why, the picture shows it, and the run comes to its end. */
import { expect, type Page, type Route } from "@playwright/test";
import { strings } from "../../app/strings";
import { makeWorld } from "../../src/world/world";
import { ANSWER_MS, askButton, expectReady, picture, questionField, test } from "./room";

const text = strings.dualSystem;
const WORLD = 7;
const world = makeWorld(WORLD);
const question = world.questions.find(({ kind, hops }) => kind === "lookup" && hops === 1)!;
const gold = world.documents.find(({ id }) => id === question.goldDocuments[0])!;

const CORS = { "access-control-allow-origin": "*", "access-control-expose-headers": "retry-after" };
const json = (route: Route, body: unknown, status = 200, headers = {}) =>
  route.fulfill({
    status,
    contentType: "application/json",
    headers: { ...CORS, ...headers },
    body: JSON.stringify(body),
  });

/** How a site behaves, and what System 2 is told. */
const FAILURES: readonly [name: string, answer: (route: Route) => Promise<void> | void, told: RegExp][] = [
  ["an error", (route) => json(route, { error: "out of order" }, 500), /refused with status 500: out of order/],
  ["a rate limit", (route) => json(route, {}, 429, { "retry-after": "600" }), /too many requests.*wait 600 s/],
  ["a page", (route) => route.fulfill({ status: 200, headers: CORS, body: "<html>Hello</html>" }), /no JSON/],
  ["another form", (route) => json(route, { results: 3, query: { search: "none" } }), /unknown form/],
  ["silence", () => {}, /did not answer within [\d.]+ s/],
  ["a broken connection", (route) => route.abort(), /could not be reached/],
];

async function open(page: Page, search: string): Promise<void> {
  await page.goto(`#/dual-system?turns=2&patience=1&q=${encodeURIComponent(question.text)}&${search}`);
  await expect(questionField(page)).toHaveValue(question.text, { timeout: ANSWER_MS });
  await expectReady(page);
}

async function ask(page: Page): Promise<void> {
  await expect(askButton(page)).toBeEnabled({ timeout: ANSWER_MS });
  await askButton(page).click();
  await expect(page.getByRole("button", { name: text.run.download })).toBeVisible({ timeout: 3 * ANSWER_MS });
}

const firstTurn = (page: Page) => picture(page).getByRole("region", { name: text.run.turn(1), exact: true });

for (const { corpus, host, title, answer } of [
  {
    corpus: "wikipedia" as const,
    host: "https://en.wikipedia.org/**",
    title: gold.title,
    answer: (route: Route) =>
      new URL(route.request().url()).searchParams.has("srsearch")
        ? json(route, { query: { search: [{ title: gold.title, pageid: 1 }] } })
        : json(route, { query: { pages: [{ title: gold.title, extract: gold.text }] } }),
  },
  {
    corpus: "openalex" as const,
    host: "https://api.openalex.org/**",
    title: gold.title,
    answer: (route: Route) =>
      json(route, {
        results: [
          {
            id: "https://openalex.org/W1",
            display_name: gold.title,
            abstract_inverted_index: Object.fromEntries(gold.text.split(" ").map((word, i) => [`${word}`, [i]])),
          },
        ],
      }),
  },
]) {
  test(`${corpus}: asked only with consent, and its failures are survived`, async ({ page }) => {
    test.setTimeout(900_000);
    let requests = 0;
    let behave: (route: Route) => Promise<void> | void = answer;
    await page.route(host, async (route) => {
      requests++;
      await behave(route);
    });
    await open(page, `corpus=${corpus}`);
    await ask(page);
    await expect(firstTurn(page)).toContainText("The use of the network is switched off");
    expect(requests).toBe(0);

    const consent = page.getByRole("switch", { name: text.sites.allow[corpus] });
    await consent.press("Space");
    await expect(consent).toBeChecked();
    await ask(page);
    await expect(firstTurn(page)).toContainText(title);
    expect(requests).toBeGreaterThan(0);

    for (const [name, failure, told] of FAILURES) {
      behave = failure;
      await ask(page);
      await expect(firstTurn(page), name).toContainText(told);
      const second = picture(page).getByRole("region", { name: text.run.turn(2), exact: true });
      await expect(second, name).toContainText(text.run.toolError);
    }
    // A link cannot allow what the visitor did not.
    await page.reload();
    await expect(consent).not.toBeChecked();
  });
}

test("further tools stand in System 2's prompt when they are switched on", async ({ page }) => {
  await open(page, "scholar=papers&wikipedia=true");
  await ask(page);
  await picture(page)
    .getByRole("button", { name: text.inspector.system2(1) })
    .click();
  const inspector = page.getByRole("complementary", { name: strings.inspector.label });
  // The shipped agents' template lists tools by their names.
  await expect(inspector).toContainText(/<tools>\s*search\s*python\s*scholar\s*wikipedia\s*<\/tools>/);
});

test("Python that cannot be loaded is told to System 2, and the run comes to its end", async ({ page }) => {
  test.setTimeout(900_000);
  await page.route("**/pyodide.asm*.wasm", (route) => route.abort());
  const arithmetic = world.questions.filter(({ kind, hops }) => kind === "arithmetic" && hops === 1).slice(0, 4);
  await page.goto(`#/dual-system?world=${WORLD}&turns=4&q=${encodeURIComponent(arithmetic[0]!.text)}`);
  await expectReady(page);
  // A small agent does not always come as far as a calculation.
  for (const { text: words } of arithmetic) {
    await questionField(page).fill(words);
    await ask(page);
    if ((await picture(page).getByText("Python could not be loaded").count()) > 0) break;
  }
  await expect(picture(page).getByText("Python could not be loaded").first()).toBeVisible();
});
