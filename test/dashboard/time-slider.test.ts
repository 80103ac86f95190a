import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

describe("The time slider of a job's history", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  let jobId: string;
  let events: readonly { readonly type: string }[];

  before(async () => {
    stage = await dashboardStage();
    watched = await openPage(stage.url);
    jobId = await stage.api.create({ subject: "Slid", body: "x", recipients: ["ada@example.com", "bob@example.com"] });
    await stage.api.ended(jobId);
    events = (await stage.api.get(`/api/jobs/${jobId}/events`)).body as typeof events;
    await watched.page.goto(`${stage.url}/#/jobs/${jobId}?tab=history`);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const then = () => watched.page.getByLabel("State of the job at this event", { exact: true });
  const counts = async () =>
    await Promise.all(["sent", "pending", "total"].map((kind) => then().locator(`[data-count=${kind}]`).textContent()));
  const slider = () => watched.page.getByRole("slider");

  it("begins at the end", async () => {
    await then().getByText("completed").waitFor();
    expect(await counts()).to.deep.equal(["2", "0", "2"]);
    expect(await slider().getAttribute("max")).to.equal(String(events.length));
  });

  it("shows the job as it was after its first event", async () => {
    await slider().focus();
    await watched.page.keyboard.press("Home");
    await then().getByText("queued", { exact: true }).first().waitFor();
    await watched.page.getByText(`Event 1 of ${events.length}`).waitFor();
    expect(await counts()).to.deep.equal(["0", "2", "2"]);
  });

  it("shows each step between, one by one", async () => {
    const before = events.findIndex(({ type }) => type === "RecipientSent");
    for (let step = 0; step < before; step++) await watched.page.getByLabel("One event on").click();
    await watched.page.getByText(`Event ${before + 1} of ${events.length}`).waitFor();
    await then().getByText("processing").waitFor();
    expect(await counts()).to.deep.equal(["1", "1", "2"]);
    const marked = watched.page.locator("[aria-current=step] strong");
    expect(await marked.allTextContents()).to.deep.equal(["RecipientSent"]);
  });

  it("has an address for every moment, which a reload comes back to", async () => {
    expect(new URL(watched.page.url()).hash).to.match(/at=\d+/);
    await watched.page.reload();
    await then().getByText("processing").waitFor();
    expect(await counts()).to.deep.equal(["1", "1", "2"]);
  });
});
