import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { dialogIsGone } from "../support/dialog.ts";

const address = "dialogs@example.com";
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe("A question before something is done that cannot be taken back", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  let scheduled: string;
  let ended: string;
  let draft: string;
  let schedule: string;
  const changes: string[] = [];

  before(async () => {
    stage = await dashboardStage();
    const mailing = { subject: "Asked first", body: "x", recipients: [address] };
    scheduled = await stage.api.create({ ...mailing, scheduledAt: inAnHour() });
    ended = await stage.api.create(mailing);
    await stage.api.ended(ended);
    const refused = ["dialogs-1@example.com", "dialogs-2@example.com"];
    for (const one of refused) stage.mailServer.answerRecipient(one, { code: 554, text: "5.7.1 not today" });
    await stage.api.ended(await stage.api.create({ ...mailing, subject: "Asked dead", recipients: refused }));
    for (const one of refused) stage.mailServer.answerRecipient(one, null);
    await stage.api.post("/api/suppressions", { email: address, reason: "manual" });
    draft = await stage.api.createMailing({ subject: "Asked first", body: "x" });
    const weekly = { name: "Asked first", cron: "30 8 * * mon", job: mailing };
    schedule = await stage.api.createSchedule(weekly);
    await fetch(`${stage.url}/api/templates/asked-first`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ subject: "Asked first", body: "x" }),
    });
    watched = await openPage(stage.url);
    watched.page.on("request", (request) => {
      const isReading = request.method() === "GET" || request.url().endsWith("/preview");
      if (!isReading) changes.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  type Question = {
    readonly at: () => string;
    readonly row?: string;
    readonly opens: string;
    readonly does: string;
    /** What the page tells once it is done; not there for what is not done here. */
    readonly tells?: string;
  };

  const questions: readonly Question[] = [
    { at: () => `jobs/${scheduled}`, opens: "Pause", does: "Pause this job", tells: "The job is paused." },
    { at: () => `jobs/${scheduled}`, opens: "Cancel", does: "Cancel this job" },
    { at: () => `jobs/${scheduled}`, opens: "Reschedule", does: "Reschedule this job" },
    { at: () => `jobs/${ended}`, opens: "Erase the content", does: "Erase it for good" },
    { at: () => `mailings/${draft}`, opens: "Cancel", does: "Cancel this mailing", tells: "The mailing is cancelled." },
    {
      at: () => `schedules/${schedule}`,
      opens: "Pause",
      does: "Pause this schedule",
      tells: "The schedule is paused.",
    },
    { at: () => `schedules/${schedule}`, opens: "Delete", does: "Delete this schedule" },
    { at: () => "templates/asked-first", opens: "Archive", does: "Archive this template" },
    { at: () => `recipients?email=${address}`, opens: "Erase", does: "Erase this address for good" },
    { at: () => `suppressions?email=${address}`, opens: `Remove ${address}`, does: "Remove it from the list" },
    {
      at: () => "dead-letters",
      row: "Asked dead",
      opens: "Ignore",
      does: "Ignore this dead letter",
      tells: "The dead letter is ignored.",
    },
    { at: () => "dead-letters", row: "Asked dead", opens: "Requeue", does: "Requeue as a new job" },
    { at: () => "system", row: "jobs", opens: "Rebuild", does: "Rebuild jobs" },
  ];

  const gone = () => dialogIsGone(watched.page);

  for (const { at, row, opens, does } of questions) {
    it(`is answered by the button "${does}", and by no key that was meant for something else`, async () => {
      const { page } = watched;
      await page.goto(`${stage.url}/#/${at()}`);
      const place = row === undefined ? page : page.getByRole("row", { name: new RegExp(`^${row} `) });
      const dialog = page.getByRole("dialog");
      await place.getByRole("button", { name: opens, exact: true }).focus();
      await page.keyboard.press("Enter");
      await dialog.getByRole("button", { name: does, exact: true }).waitFor();
      const focused = await page.evaluate("document.activeElement.textContent");
      expect(focused).to.be.oneOf(["Close", "Keep it"]);
      await page.keyboard.press("Enter");
      await gone();
      await place.getByRole("button", { name: opens, exact: true }).click();
      const fields = dialog.getByRole("textbox");
      for (let index = 0; index < (await fields.count()); index++) {
        await fields.nth(index).fill("typed");
        await page.keyboard.press("Enter");
      }
      await dialog.getByRole("button", { name: does, exact: true }).waitFor();
      await dialog.getByRole("button", { name: String(focused), exact: true }).click();
      await gone();
      expect(changes).to.deep.equal([]);
    });
  }

  for (const { at, row, opens, does, tells } of questions.filter(({ tells }) => tells !== undefined)) {
    it(`is asked of a busy service again by the button "${does}"`, async () => {
      const { page } = watched;
      let isBusy = true;
      await page.route(/\/api\//, async (route) => {
        if (!isBusy || route.request().method() === "GET") return await route.continue();
        isBusy = false;
        await route.fulfill({ status: 503, headers: { "Retry-After": "0" }, json: { title: "Away", detail: "Busy." } });
      });
      await page.goto(`${stage.url}/#/${at()}`);
      const place = row === undefined ? page : page.getByRole("row", { name: new RegExp(`^${row} `) });
      await place.getByRole("button", { name: opens, exact: true }).click();
      await page.getByRole("dialog").getByLabel("Reason").fill("asked");
      await page.getByRole("dialog").getByRole("button", { name: does, exact: true }).click();
      await page.getByText(tells ?? "", { exact: true }).waitFor();
      await gone();
      await page.unroute(/\/api\//);
    });
  }

  it("shows what became of a cancel whose answer was lost", async () => {
    const { page } = watched;
    const job = await stage.api.create({
      subject: "Lost answer",
      body: "x",
      recipients: [address],
      scheduledAt: inAnHour(),
    });
    let isBusy = true;
    await page.route(`**/api/jobs/${job}`, async (route) => {
      if (!isBusy || route.request().method() !== "DELETE") return await route.continue();
      isBusy = false;
      await route.fetch();
      await route.fulfill({ status: 503, headers: { "Retry-After": "0" }, json: { title: "Away", detail: "Busy." } });
    });
    await page.goto(`${stage.url}/#/jobs/${job}`);
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel this job", exact: true }).click();
    await page.getByText("The job is cancelled.", { exact: true }).waitFor();
    await gone();
    await page.unroute(`**/api/jobs/${job}`);
  });
});
