import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

const address = "dialogs@example.com";

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
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    scheduled = await stage.api.create({ ...mailing, scheduledAt });
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

  type Question = { readonly at: () => string; readonly row?: string; readonly opens: string; readonly does: string };

  const questions: readonly Question[] = [
    { at: () => `jobs/${scheduled}`, opens: "Pause", does: "Pause this job" },
    { at: () => `jobs/${scheduled}`, opens: "Cancel", does: "Cancel this job" },
    { at: () => `jobs/${scheduled}`, opens: "Reschedule", does: "Reschedule this job" },
    { at: () => `jobs/${ended}`, opens: "Erase the content", does: "Erase it for good" },
    { at: () => `mailings/${draft}`, opens: "Cancel", does: "Cancel this mailing" },
    { at: () => `schedules/${schedule}`, opens: "Pause", does: "Pause this schedule" },
    { at: () => `schedules/${schedule}`, opens: "Delete", does: "Delete this schedule" },
    { at: () => "templates/asked-first", opens: "Archive", does: "Archive this template" },
    { at: () => `recipients?email=${address}`, opens: "Erase", does: "Erase this address for good" },
    { at: () => `suppressions?email=${address}`, opens: `Remove ${address}`, does: "Remove it from the list" },
    { at: () => "dead-letters", row: "Asked dead", opens: "Ignore", does: "Ignore this dead letter" },
    { at: () => "dead-letters", row: "Asked dead", opens: "Requeue", does: "Requeue as a new job" },
    { at: () => "system", row: "jobs", opens: "Rebuild", does: "Rebuild jobs" },
  ];

  // Not only hidden: the page has taken notice.
  const gone = () => watched.page.locator("dialog").waitFor({ state: "detached" });

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
});
