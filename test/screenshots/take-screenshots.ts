import { mkdir, writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { openPage, phone } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { endRun as cleanUp } from "../support/end-of-run.ts";
import { demoDraft, demoMailing, playDemo, playMailing } from "./demo-mailings.ts";

const folder = fileURLToPath(new URL("../../src/dashboard/screenshots/", import.meta.url));
/** They are part of every clone. */
const maxBytes = 160_000;
const wide = { viewport: { width: 1200, height: 800 }, colorScheme: "light" } as const;

async function keep(page: Page, name: string, fullPage = false): Promise<void> {
  const picture = await page.screenshot({ fullPage });
  if (picture.length > maxBytes) throw new Error(`${name} takes ${picture.length} bytes; expected ${maxBytes} at most`);
  await writeFile(`${folder}${name}.png`, picture);
  process.stdout.write(`${name}.png: ${Math.round(picture.length / 1000)} kB\n`);
}

/** While a mailing goes out: the overview, and the job on a phone. */
async function takeLive({ url, api, mailServer }: DashboardStage): Promise<string> {
  const { page, close } = await openPage(url, wide);
  await page.getByRole("heading", { name: "Mails per minute" }).waitFor();
  mailServer.slowDown(250);
  const jobId = await api.create(demoMailing("Autumn newsletter", 950));
  const small = await openPage(`${url}/#/jobs/${jobId}`, { ...phone, colorScheme: "dark" });
  await small.page.getByText("Time left").waitFor();
  await page.waitForFunction("document.querySelectorAll('.chart canvas').length > 0");
  await page.waitForTimeout(16_000);
  await keep(page, "overview");
  await keep(small.page, "phone");
  mailServer.slowDown(0);
  await small.close();
  await close();
  await api.ended(jobId, 60_000);
  return jobId;
}

async function takeHistory({ url, api }: DashboardStage, jobId: string): Promise<void> {
  const { body } = await api.get(`/api/jobs/${jobId}/events`);
  const middle = Math.round((body as readonly unknown[]).length / 2);
  const { page, close } = await openPage(`${url}/#/jobs/${jobId}?tab=history&at=${middle}`, wide);
  await page.getByLabel("State of the job at this event", { exact: true }).getByText("processing").waitFor();
  await keep(page, "job");
  await close();
}

async function takeCompose({ url }: DashboardStage): Promise<void> {
  const { page, close } = await openPage(`${url}/#/compose`, wide);
  await page.getByLabel("Subject").fill(demoDraft.subject);
  await page.getByLabel("Letter: HTML").fill(demoDraft.body);
  await page.getByLabel("Recipients: one address").fill(demoDraft.csv);
  await page.keyboard.press("ControlOrMeta+Home");
  await page.getByRole("button", { name: "Check and preview" }).click();
  await page.frameLocator("iframe.mail").getByText("Dear Ada").waitFor();
  await keep(page, "compose", true);
  await close();
}

/** The pictures of the README and of the guides, of mailings that really were sent. */
async function takeAll(): Promise<void> {
  await mkdir(folder, { recursive: true });
  const stage = await dashboardStage();
  await playDemo(stage);
  const jobId = await takeLive(stage);
  await takeHistory(stage, jobId);
  await takeCompose(stage);
}

/** With the first job and the first mailing of the lists. */
const pagesOf = (jobId: string, mailingId: string) => [
  ["overview", "overview"],
  ["overview-year", "overview?period=year"],
  ["jobs", "jobs"],
  ["jobs-failed", "jobs?status=failed"],
  ["mailings", "mailings"],
  ["compose", "compose"],
  ["templates", "templates"],
  ["schedules", "schedules"],
  ["dead-letters", "dead-letters"],
  ["suppressions", "suppressions"],
  ["recipients", "recipients?email=ada-0%40example.com"],
  ["events", "events"],
  ["notifications", "notifications"],
  ["system", "system"],
  ["job", `jobs/${jobId}`],
  ["job-history", `jobs/${jobId}?tab=history`],
  ["mailing", `mailings/${mailingId}`],
  ["template", "templates/welcome"],
];

/** Every page, light and dark, wide and narrow, to be looked at; not for the guides. */
async function takeEveryPage(into: string): Promise<void> {
  await mkdir(into, { recursive: true });
  const stage = await dashboardStage();
  await playDemo(stage);
  const firstOf = async (path: string): Promise<string> => {
    const { body } = await stage.api.get(path);
    return (body as { readonly data: readonly { readonly id: string }[] }).data[0]?.id ?? "";
  };
  const mailingId = await playMailing(stage);
  const pages = pagesOf(await firstOf("/api/jobs?status=completed"), mailingId);
  for (const colorScheme of ["light", "dark"] as const) {
    for (const [width, shape] of [
      ["wide", { viewport: { width: 1200, height: 800 } }],
      ["narrow", phone],
    ] as const) {
      const { page, close } = await openPage(stage.url, { ...shape, colorScheme });
      for (const [name, path] of pages) {
        await page.goto(`${stage.url}/#/${path}`);
        await page.waitForTimeout(2500);
        await page.screenshot({ path: `${into}/${name}-${width}-${colorScheme}.png` });
      }
      await close();
    }
  }
}

const [, , flag, into] = process.argv;

async function takeAndCleanUp(): Promise<void> {
  try {
    await (flag === "--all" && into !== undefined ? takeEveryPage(into) : takeAll());
  } finally {
    await cleanUp();
  }
}

takeAndCleanUp().catch((failure: unknown) => {
  process.stderr.write(`${failure instanceof Error ? failure.stack : String(failure)}\n`);
  process.exitCode = 1;
});
