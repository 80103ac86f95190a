import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

describe("The overview", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;

  before(async () => {
    stage = await dashboardStage();
    watched = await openPage(stage.url);
  });
  after(async () => {
    stage.mailServer.release();
    stage.mailServer.slowDown(0);
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  it("shows figures, a chart that can be read as a table, and how far read models are", async () => {
    const { page } = watched;
    await page.getByText("a minute").first().waitFor();
    await page.getByRole("img", { name: "Mails per minute" }).locator("canvas").waitFor();
    await page.getByText("As a table").click();
    await page.getByRole("group").getByRole("columnheader", { name: "sent" }).waitFor();
    await page.getByRole("row", { name: /^jobs \d+ events/ }).waitFor();
  });

  it("shows a running job with its progress and the time that is left", async () => {
    const { page } = watched;
    // It must not end before a busy machine has shown it.
    stage.mailServer.slowDown(1500);
    const recipients = Array.from({ length: 200 }, (_, index) => `slow-${index}@example.com`);
    const jobId = await stage.api.create({ subject: "Slow one", body: "x", recipients });
    const row = page.getByRole("row", { name: "Slow one" });
    await row.getByText(/^\d+ s$|min/).waitFor();
    stage.mailServer.slowDown(0);
    await stage.api.ended(jobId);
    await row.waitFor({ state: "detached" });
  });
});
