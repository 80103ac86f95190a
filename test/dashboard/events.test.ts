import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

describe("The page of events", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  const recipients = ["ada@example.com"];

  before(async () => {
    stage = await dashboardStage();
    await stage.api.ended(await stage.api.create({ subject: "Before", body: "x", recipients }));
    watched = await openPage(`${stage.url}/#/events`);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const eventsOf = (jobId: string) =>
    watched.page.getByRole("listitem").filter({ has: watched.page.locator(`a[href="#/jobs/${jobId}"]`) });

  it("tells live what happens, the newest first, and opens to the data", async () => {
    const { page } = watched;
    await page.getByRole("listitem").first().waitFor();
    const jobId = await stage.api.create({ subject: "Watched", body: "x", recipients });
    const completed = eventsOf(jobId).filter({ hasText: "JobCompleted" });
    await completed.waitFor();
    await completed.locator("summary").click();
    await completed.getByText('"counts"').waitFor();
  });

  it("stands still while it is paused, and then catches up", async () => {
    const { page } = watched;
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    const jobId = await stage.api.create({ subject: "Unseen", body: "x", recipients });
    await stage.api.ended(jobId);
    expect(await eventsOf(jobId).count()).to.equal(0);
    await page.getByRole("button", { name: "Go on" }).click();
    await eventsOf(jobId).first().waitFor();
  });

  it("goes on without a gap when the connection breaks", async () => {
    const { page } = watched;
    await page.context().setOffline(true);
    const jobId = await stage.api.create({ subject: "While away", body: "x", recipients });
    await stage.api.ended(jobId);
    await page.context().setOffline(false);
    await eventsOf(jobId).filter({ hasText: "JobCompleted" }).waitFor();
    const types = await eventsOf(jobId).locator("strong").allTextContents();
    expect(types.filter((type) => type === "JobCreated")).to.deep.equal(["JobCreated"]);
  });

  it("shows any part of the log, of chosen types", async () => {
    const { page } = watched;
    await page.getByLabel("After sequence").fill("0");
    await page.keyboard.press("Enter");
    await page.getByRole("listitem").first().getByText("JobCreated").waitFor();
    await page.locator("summary", { hasText: "Types" }).click();
    await page.getByRole("button", { name: "JobCompleted" }).click();
    await page.getByRole("listitem").first().getByText("JobCompleted").waitFor();
    expect(new URL(page.url()).hash).to.equal("#/events?after=0&types=JobCompleted");
    const shown = await page.getByRole("listitem").locator("strong").allTextContents();
    expect(new Set(shown)).to.deep.equal(new Set(["JobCompleted"]));
  });

  it("finds where a time begins", async () => {
    const { page } = watched;
    await page.getByLabel("From time").fill("2020-01-01T00:00");
    await page.waitForURL(/after=0/);
    await page.getByRole("button", { name: "Follow the end" }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  });
});
