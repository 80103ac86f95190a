import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core";
import { atEndOfFolder } from "./end-of-run.ts";
import { findChromium } from "./find-chromium.ts";

export type WatchedPage = {
  readonly page: Page;
  /** What a page must never do: break its policy, ask another origin, throw. */
  readonly sins: readonly string[];
  /** What axe finds that is serious or critical, each with the first place of it. */
  findBarriers(): Promise<readonly string[]>;
  close(): Promise<void>;
};

let shared: Promise<Browser> | null = null;

/** One for the files of a folder: each page has its own profile in it. */
function startBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

async function launch(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    // Its sandbox does not work for root, and containers have no large /dev/shm.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"],
  });
  atEndOfFolder(async () => {
    shared = null;
    await browser.close();
  });
  return browser;
}

/** `tellViolation` is put there by exposeFunction. */
const tellsViolations = `addEventListener("securitypolicyviolation", (event) =>
  tellViolation([event.violatedDirective, event.blockedURI, event.sourceFile, event.lineNumber].join(" ")));`;

export const phone = { viewport: { width: 390, height: 800 } };

/** A page at an address, in a profile of its own that knows nothing of any other. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await (await startBrowser()).newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const sins: string[] = [];
  const { origin } = new URL(url);
  const look = (request: Request): void => {
    const { protocol, origin: asked, href } = new URL(request.url());
    // What its policy stops never leaves the browser.
    const isStopped = request.failure()?.errorText === "csp";
    if (!["data:", "blob:"].includes(protocol) && asked !== origin && !isStopped) sins.push(`asked ${href}`);
  };
  page.on("requestfinished", look);
  page.on("requestfailed", look);
  page.on("pageerror", (failure) => sins.push(`threw ${failure.stack ?? failure.message}`));
  await page.exposeFunction("tellViolation", (violation: string) => sins.push(`violated ${violation}`));
  await page.addInitScript({ content: tellsViolations });
  await page.goto(url);
  return { page, sins, findBarriers: () => findBarriers(page), close: () => context.close() };
}

let axeSource: Promise<string> | null = null;

async function findBarriers(page: Page): Promise<readonly string[]> {
  axeSource ??= readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // Evaluated by the debugger, which no policy of the page binds. A new place of the dashboard is the same document.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await axeSource);
  const results: AxeResults = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
  return results.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html} (${nodes[0]?.failureSummary})`);
}
