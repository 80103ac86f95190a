import { expect } from "chai";
import { schedulesProjector } from "../../projections/schedules/projector.ts";
import { createAccess } from "../../src/access/access.ts";
import { readDashboard } from "../../src/dashboard/dashboard.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { dialogIsGone } from "../support/dialog.ts";
import { eventually } from "../support/eventually.ts";
import { bearer, newKey, ringOf } from "../support/keys.ts";
import type { RunningApi } from "../support/running-api.ts";

const job = { subject: "Scheduled on a page", body: "x", recipients: ["ada@example.com"] };
const weekly = { cron: "30 8 * * mon", timeZone: "Europe/Berlin", job };

describe("The pages of schedules", function () {
  // One of them comes due within a minute, in real time.
  this.timeout(180_000);

  let stage: DashboardStage;
  let watched: WatchedPage;
  let everyMinute: string;

  before(async () => {
    stage = await dashboardStage();
    watched = await openPage(stage.url);
    everyMinute = await create({ ...weekly, name: "Every minute", cron: "* * * * *" });
  });
  after(async () => {
    await stage.api.delete(`/api/schedules/${everyMinute}`);
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const create = (schedule: object): Promise<string> => stage.api.createSchedule(schedule);
  const read = async (id: string) => (await stage.api.get(`/api/schedules/${id}`)).body;
  const open = (place: string) => watched.page.goto(`${stage.url}/#/${place}`);
  const press = (name: string) => watched.page.getByRole("button", { name, exact: true }).click();
  const confirm = async (button: string, does: string, reason = ""): Promise<void> => {
    const dialog = watched.page.getByRole("dialog");
    await press(button);
    if (reason !== "") await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: does }).click();
    await dialogIsGone(watched.page);
  };
  const status = (of: string) => watched.page.locator(".facts .status", { hasText: new RegExp(`^${of}$`) }).waitFor();

  it("list each with its times, and lead to it", async () => {
    const { page } = watched;
    await create({ ...weekly, name: "Listed" });
    await open("schedules");
    const row = page.getByRole("row", { name: /^Listed active 30 8 \* \* mon Europe\/Berlin in / });
    await row.waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
    await row.getByRole("link", { name: "Listed" }).click();
    await page.getByRole("heading", { name: "Listed" }).waitFor();
    const times = page.getByRole("region", { name: "Next times" }).getByRole("row");
    expect(await times.filter({ hasText: /Mon, \d{4}-\d\d-\d\d 08:30/ }).count()).to.equal(5);
    await page.getByText("Nothing has come due yet.").waitFor();
    await page.getByText('"subject": "Scheduled on a page"').waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });

  it("create one, with each fault at its field", async () => {
    const { page } = watched;
    await open("schedules");
    await press("New schedule");
    const fault = (text: string) => page.locator(".fault").getByText(text).waitFor();
    await page.getByLabel("Name").fill("Created");
    await page.getByLabel("Cron").fill("every monday");
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    const template = page.getByLabel("The request for the job, as JSON");
    await template.fill('{"subject": }');
    await press("Create this schedule");
    await fault("This is not JSON");
    await template.fill(JSON.stringify({ ...job, recipients: ["ada@"] }));
    await press("Create this schedule");
    await fault('cron is "every monday"; expected five fields');
    await fault('job.recipients[0] is "ada@"');
    for (const field of [page.getByLabel("Cron"), template]) {
      expect(await field.getAttribute("aria-invalid")).to.equal("true");
    }
    expect(await watched.findBarriers()).to.deep.equal([]);
    await page.getByLabel("Makes").selectOption("a mailing");
    await page.getByLabel("The request for the mailing, as JSON").fill('{"subject": "x", "body": "x"}');
    await press("Create this schedule");
    await fault("mailing.recipientsOf is missing");
    await page.getByLabel("Makes").selectOption("a job");
    await template.fill(JSON.stringify(job));
    await page.getByLabel("Cron").fill("30 8 * * mon");
    await page.getByLabel("While the one before").selectOption("wait for its end");
    // On a busy machine the service may ask for one more press.
    await eventually(async () => {
      const button = page.getByRole("button", { name: "Create this schedule" });
      if (await button.isVisible()) await button.click();
      await page.getByRole("heading", { name: "Created" }).waitFor({ timeout: 20_000 });
    }, 60_000);
    const [, id = ""] = /#\/schedules\/(.+)/.exec(page.url()) ?? [];
    expect(await read(id)).to.deep.include({ ...weekly, name: "Created", overlap: "queue", catchUp: "none" });
  });

  it("make one schedule, also where its answer was lost and the button is pressed again", async () => {
    const { page } = watched;
    await open("schedules?new=true");
    await page.getByLabel("Name").fill("Made once");
    await page.getByLabel("Cron").fill("30 8 * * mon");
    await page.getByLabel("The request for the job, as JSON").fill(JSON.stringify(job));
    await page.route("**/api/schedules", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await route.fetch();
      await route.abort();
    });
    await press("Create this schedule");
    await page.getByRole("alert").getByText("The service cannot be reached").waitFor();
    await page.unroute("**/api/schedules");
    await press("Create this schedule");
    await page.getByRole("heading", { name: "Made once" }).waitFor();
    await open("schedules");
    await page.getByRole("link", { name: "Made once" }).first().waitFor();
    expect(await page.getByRole("link", { name: "Made once" }).count()).to.equal(1);
  });

  it("pause one with a reason, resume it, change it and delete it", async () => {
    const { page } = watched;
    const id = await create({ ...weekly, name: "Changed" });
    await open(`schedules/${id}`);
    await confirm("Pause", "Pause this schedule", "holidays");
    await status("paused");
    await confirm("Resume", "Resume this schedule");
    await status("active");
    await press("Change");
    expect(await page.getByLabel("Cron").inputValue()).to.equal(weekly.cron);
    await page.getByLabel("Cron").fill("0 9 * *");
    await press("Save the changes");
    await page.locator(".fault").getByText("expected five fields").waitFor();
    await page.getByLabel("Cron").fill("0 9 * * *");
    await press("Save the changes");
    await page.getByText("09:00").first().waitFor();
    expect(await page.getByLabel("Cron").count()).to.equal(0);
    expect(await read(id)).to.deep.include({ ...weekly, cron: "0 9 * * *", name: "Changed" });
    await confirm("Delete", "Delete this schedule");
    await status("deleted");
    expect(await page.locator(".title").getByRole("button").count()).to.equal(0);
  });

  it("do not undo what others changed while the form was open", async () => {
    const { page } = watched;
    const id = await create({ ...weekly, name: "Of two people" });
    await open(`schedules/${id}?change=true`);
    await page.getByLabel("Cron").fill("0 9 * * *");
    const theirs = JSON.stringify({ ...weekly, name: "Of two people", cron: "0 7 * * *" });
    const headers = { "Content-Type": "application/json" };
    const changed = await fetch(`${stage.url}/api/schedules/${id}`, { method: "PUT", headers, body: theirs });
    expect(changed.status).to.equal(200);
    await press("Save the changes");
    await page.getByRole("alert").getByText("It was changed since you began.").waitFor();
    expect(await read(id)).to.deep.include({ cron: "0 7 * * *" });
    await press("Close without saving");
    await press("Change");
    expect(await page.getByLabel("Cron").inputValue()).to.equal("0 7 * * *");
    await page.getByLabel("Cron").fill("0 9 * * *");
    await press("Save the changes");
    await page.getByText("09:00").first().waitFor();
    expect(await read(id)).to.deep.include({ cron: "0 9 * * *" });
  });

  it("say why a time did not fire, and how many were passed over together", async () => {
    const { page } = watched;
    const id = await create({ ...weekly, name: "Passed over" });
    const missed = { dueAt: "2026-11-23T07:30:00.000Z", at: "2026-11-23T09:00:00.000Z", jobId: null, mailingId: null };
    const data = [
      {
        ...missed,
        outcome: "skipped",
        reason: "The service was away.",
        firstDueAt: "2026-11-02T07:30:00.000Z",
        count: 4,
      },
      {
        ...missed,
        outcome: "failed",
        reason: "Not valid (validation-failed): /template.",
        firstDueAt: missed.dueAt,
        count: 1,
      },
    ];
    await page.route(`**/schedules/${id}/firings**`, (route) => route.fulfill({ json: { data, nextCursor: "7" } }));
    await open(`schedules/${id}`);
    const history = page.getByRole("region", { name: "History" });
    const skipped = history.getByRole("row").filter({ hasText: "skipped The service was away." });
    await skipped.getByText("and 3 times before, since").waitFor();
    const failed = history.getByRole("row").filter({ hasText: "failed Not valid (validation-failed): /template." });
    await failed.waitFor();
    expect(await failed.getByText("before, since").count()).to.equal(0);
    expect(await watched.findBarriers()).to.deep.equal([]);
    const older = page.waitForRequest((request) => request.url().includes("cursor=7"));
    await history.getByRole("button", { name: "Older" }).click();
    await older;
  });

  it("say what the service says of one that is not there", async () => {
    await open("schedules/0193a5e0-6c1d-8a4b-9f2e-3d5c7b9a1e0f");
    await watched.page.getByRole("alert").getByText("There is no schedule").waitFor();
  });

  it("show what came due, and lead to what it made", async () => {
    const { page } = watched;
    await open(`schedules/${everyMinute}`);
    const row = page.getByRole("region", { name: "History" }).getByRole("row").filter({ hasText: "fired" }).last();
    await row.getByRole("link").waitFor({ timeout: 120_000 });
    expect(await watched.findBarriers()).to.deep.equal([]);
    await row.getByRole("link").click();
    await page.getByRole("heading", { name: job.subject }).waitFor();
  });
});

describe("The pages of schedules for a key that may only read", () => {
  const reading = newKey({ scopes: ["jobs:read"] });
  const writing = newKey({ scopes: ["jobs:read", "jobs:write"] });
  let service: ApiWithReadSide;
  let api: RunningApi;
  let watched: WatchedPage;

  before(async () => {
    const settings = { mode: "required", host: "127.0.0.1", rateLimit: null, mailFrom: "a@example.org" } as const;
    service = await startApiWithReadSide({
      access: createAccess(ringOf([reading.record, writing.record]), settings),
      dashboard: await readDashboard({ hasMailbox: false, eventTypes: [] }),
    });
    ({ api } = service);
    service.readSide.startProjector(schedulesProjector);
    watched = await openPage(`${api.url}/#/schedules`);
    await watched.page.getByLabel("API key").fill(reading.text);
    await watched.page.keyboard.press("Enter");
  });
  after(async () => {
    await watched.close();
    await service.close();
    expect(watched.sins).to.deep.equal([]);
  });

  it("say that there is none", async () => {
    await watched.page.getByText("There is no schedule yet.").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });

  it("offer nothing that changes one", async () => {
    const { page } = watched;
    const { body } = await api.ask("POST", "/api/schedules", {
      body: { ...weekly, name: "Kept" },
      headers: bearer(writing.text),
    });
    await page.goto(`${api.url}/#/schedules/${body.id}?change=true`);
    await page.getByRole("heading", { name: "Kept" }).waitFor();
    expect(await page.locator(".title").getByRole("button").count()).to.equal(0);
    expect(await page.getByLabel("Cron").count()).to.equal(0);
    await page.goto(`${api.url}/#/schedules?new=true`);
    await page.getByRole("link", { name: "Kept" }).waitFor();
    expect(await page.getByLabel("Cron").count()).to.equal(0);
  });
});
