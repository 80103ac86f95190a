import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { eventually } from "../support/eventually.ts";

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

  it("shows what was mailed before it was opened, for as long as a year, and says in which time zone", async () => {
    const { page } = watched;
    await stage.api.ended(await stage.api.create({ subject: "Of before", body: "x", recipients: ["ada@example.com"] }));
    await page.reload();
    await page.getByText("As a table").click();
    await eventually(async () => {
      // The minute in which it was sent may be over by now.
      const sent = await page.getByRole("group").locator("tbody td:nth-child(2)").allTextContents();
      expect(Math.max(...sent.map(Number)), sent.join(", ")).to.be.greaterThan(0);
    });
    await page.getByText(/^Means over 1 min, in the time of (UTC|GMT)/).waitFor();
    for (const [name, step] of [
      ["the last 24 hours", "5 min"],
      ["the last 365 days", "1 d"],
    ] as const) {
      await page.getByLabel("Show").selectOption({ label: name });
      await page
        .getByRole("img", { name: `Mails per minute in ${name}` })
        .locator("canvas")
        .waitFor();
      await page.getByText(`Means over ${step}`).waitFor();
    }
    await page.getByLabel("Show").selectOption({ label: "the last hour" });
  });

  it("shows what became of the mails of each receiver and route", async () => {
    const { page } = watched;
    const mails = page.getByRole("region", { name: "Mails of the last 24 hours" });
    await mails.getByRole("row", { name: /^example\.com \d/ }).waitFor();
    await mails.getByRole("combobox").selectOption({ label: "route" });
    await mails.getByRole("row", { name: /^default \d/ }).waitFor();
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
