import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

describe("The list of mailings", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;

  before(async () => {
    stage = await dashboardStage();
    watched = await openPage(stage.url);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const draft = (name: string): Promise<string> => stage.api.createMailing({ name, subject: "Listed", body: "x" });
  const names = () => watched.page.getByRole("row").getByRole("link").allTextContents();

  it("shows the newest first, with what becomes of each while it is open", async () => {
    const { page } = watched;
    await draft("Listed one");
    const mailingId = await draft("Listed two");
    await page.getByRole("link", { name: "Mailings" }).click();
    const row = page.getByRole("row", { name: /^Listed two/ });
    await row.getByText("draft").waitFor();
    expect((await names()).slice(0, 2)).to.deep.equal(["Listed two", "Listed one"]);
    expect(await watched.findBarriers()).to.deep.equal([]);

    const headers = { "Content-Type": "application/x-ndjson" };
    const file = '"list-1@example.com"\n"list-2@example.com"\n';
    await fetch(`${stage.url}/api/mailings/${mailingId}/recipients`, { method: "PUT", headers, body: file });
    await stage.api.post(`/api/mailings/${mailingId}/start`);
    await row.getByText("completed").waitFor();
    await row.getByRole("img", { name: "2 sent of 2" }).waitFor();
    await row.getByRole("cell", { name: "2", exact: true }).waitFor();
    await row.getByRole("link").click();
    await page.getByRole("heading", { name: "Listed two" }).waitFor();
  });

  it("is shown a page at a time, by cursor", async () => {
    const { page } = watched;
    for (let ten = 0; ten < 6; ten++) {
      await Promise.all(Array.from({ length: 10 }, (_, one) => draft(`Paged ${ten * 10 + one}`)));
    }
    await page.goto(`${stage.url}/#/mailings`);
    await page.getByRole("row").nth(50).waitFor();
    const first = await names();
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("link", { name: "Listed one" }).waitFor();
    expect(new Set(first).size).to.equal(50);
    expect((await names()).filter((name) => first.includes(name))).to.deep.equal([]);
    await page.getByRole("button", { name: "Newer" }).click();
    await page.getByRole("row").nth(50).waitFor();
    expect(await names()).to.deep.equal(first);
  });
});
