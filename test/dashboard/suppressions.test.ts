import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { eventually } from "../support/eventually.ts";

describe("The page of suppressions", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  const address = "no-more+please@example.com";

  before(async () => {
    stage = await dashboardStage();
    watched = await openPage(`${stage.url}/#/suppressions`);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const row = () => watched.page.getByRole("row", { name: address });

  it("puts an address there, and says why, and it is not mailed", async () => {
    const { page } = watched;
    await page.getByLabel("Address to suppress").fill(address);
    await page.getByLabel("Why").selectOption("unsubscribe");
    await page.getByRole("button", { name: "Add" }).click();
    await row().getByText("unsubscribe").waitFor();
    const { progress } = await stage.api.ended(
      await stage.api.create({ subject: "Suppressed", body: "x", recipients: [address, "ada@example.com"] }),
    );
    expect(progress).to.include({ suppressed: 1, sent: 1 });
  });

  it("tells what is wrong with what is no address", async () => {
    const { page } = watched;
    await page.getByLabel("Address to suppress").fill("a..b@example.com");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("alert").getByText("email").first().waitFor();
  });

  it("asks a busy service again", async () => {
    const { page } = watched;
    let isBusy = true;
    await page.route("**/api/suppressions", async (route) => {
      if (!isBusy) return await route.continue();
      isBusy = false;
      await route.fulfill({ status: 503, headers: { "Retry-After": "1" }, json: { title: "Away", detail: "Busy." } });
    });
    await page.getByLabel("Address to suppress").fill("twice@example.com");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("row", { name: "twice@example.com" }).waitFor();
    await page.unroute("**/api/suppressions");
  });

  it("finds an address, and says so of one that is not there", async () => {
    const { page } = watched;
    await page.getByLabel("Find an address").fill("never-heard-of@example.com");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("never-heard-of@example.com may be mailed.").waitFor();
    await page.getByLabel("Find an address").fill(address);
    await page.keyboard.press("Enter");
    await row().waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });

  it("takes it off again, after a question", async () => {
    const { page } = watched;
    await page.getByRole("button", { name: `Remove ${address}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove it from the list" }).click();
    await page.getByText(`${address} may be mailed.`).waitFor();
    await eventually(async () => {
      const { body } = await stage.api.get(`/api/suppressions?email=${encodeURIComponent(address)}`);
      expect(body).to.deep.include({ data: [] });
    });
  });
});
