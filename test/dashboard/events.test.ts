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
    await page.goto(`${stage.url}/#/events`);
    await page.getByLabel("From time").fill("2020-01-01T00:00");
    await page.waitForURL(/after=0/);
    await page.getByRole("button", { name: "Follow the end" }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  });

  it("moves nobody who has gone elsewhere while it searched for a time", async () => {
    const { page } = watched;
    const isSearch = /\/api\/events\?after=.*limit=1&/;
    await page.route(isSearch, async (route) => {
      await page.goto(`${stage.url}/#/jobs`);
      await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
      await page.unroute(isSearch);
      await route.continue();
    });
    await page.goto(`${stage.url}/#/events`);
    await page.getByLabel("From time").fill("2021-01-01T00:00");
    await page.waitForURL(/#\/jobs/);
    const isMoved = await page.waitForURL(/after=/, { timeout: 2000 }).then(
      () => true,
      () => false,
    );
    expect(isMoved).to.equal(false);
  });

  it("reads on once where the button is pressed twice", async () => {
    const { page } = watched;
    const isPage = /\/api\/events\?after=.*limit=100&wait=0/;
    const asked: string[] = [];
    // A log of two hundred events would take long to write: each page is the same, and says that there is more.
    const body = (await stage.api.get("/api/events?limit=1&wait=0")).body as object;
    await page.route(isPage, async (route) => {
      asked.push(route.request().url());
      await route.fulfill({ json: { ...body, nextCursor: String(asked.length), hasMore: true } });
    });
    await page.goto(`${stage.url}/#/events?after=0`);
    await page.getByText("1 event", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Read on" }).dblclick();
    await page.getByText("2 events", { exact: true }).waitFor();
    expect(asked).to.have.length(2);
    await page.unroute(isPage);
  });

  it("begins once the read model is back that knows the end of the log", async () => {
    const { page } = watched;
    const away = { status: 503, json: { title: "Away", detail: "The read model cannot be reached." } };
    await page.goto(`${stage.url}/#/overview`);
    await page.route("**/api/jobs?pageSize=1", (route) => route.fulfill(away), { times: 1 });
    await page.goto(`${stage.url}/#/events`);
    await page.getByRole("alert").getByText("The read model cannot be reached.").waitFor();
    await page.getByRole("listitem").first().waitFor();
    expect(await page.getByRole("alert").count()).to.equal(0);
  });
});
