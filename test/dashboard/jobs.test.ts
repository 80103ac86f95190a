import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { eventually } from "../support/eventually.ts";

describe("The list of jobs", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  const ids: string[] = [];

  before(async () => {
    stage = await dashboardStage();
    watched = await openPage(stage.url);
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    for (const subject of ["Bulk one", "Bulk two", '=HYPERLINK("Bulk three")', "Bulk four"]) {
      ids.push(await stage.api.create({ subject, body: "x", recipients: ["ada@example.com"], scheduledAt }));
    }
    await watched.page.goto(`${stage.url}/#/jobs`);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const statusOf = async (index: number) =>
    ((await stage.api.get(`/api/jobs/${ids[index]}`)).body as { status: string }).status;
  /** The page tells what was decided, and the read models show it a moment later. */
  const become = (statuses: readonly string[]) =>
    eventually(async () => expect(await Promise.all([0, 1, 2, 3].map(statusOf))).to.deep.equal(statuses));
  const subjects = () => watched.page.getByRole("row").getByRole("link").allTextContents();

  it("is filtered by what stands in the address, which a reload and the back button keep", async () => {
    const { page } = watched;
    await page.getByLabel("Subject or name").fill("bulk");
    // Not the count: without any other job it is the same before.
    await page.waitForURL(/\?q=bulk$/);
    await page.getByText("4 in all").waitFor();
    // The chips count all jobs, whatever the filter.
    await page.getByRole("button", { name: /^scheduled [1-9]/ }).waitFor();
    await page.getByRole("button", { name: "scheduled" }).click();
    await page.getByRole("button", { name: "scheduled", pressed: true }).waitFor();
    expect(new URL(page.url()).hash).to.equal("#/jobs?q=bulk&status=scheduled");
    await page.reload();
    await page.getByText("4 in all").waitFor();
    expect(await subjects()).to.deep.equal(["Bulk four", '=HYPERLINK("Bulk three")', "Bulk two", "Bulk one"]);
    await page.getByRole("button", { name: "failed" }).click();
    await page.getByText("No job matches these filters.").waitFor({ state: "hidden" });
    await page.goBack();
    await page.getByRole("button", { name: "failed", pressed: false }).waitFor();
  });

  it("is exported as it is filtered, with nothing that a spreadsheet would run", async () => {
    const { page } = watched;
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
    expect(file.suggestedFilename()).to.equal("jobs.csv");
    expect(lines).to.have.length(5);
    expect(lines[0]).to.match(/^id,status,name,subject,/);
    expect(lines[2]).to.contain(`,"'=HYPERLINK(""Bulk three"")",`);
  });

  it("cancels what is selected, and nothing else", async () => {
    const { page } = watched;
    await page.getByLabel("Select Bulk one").check();
    await page.getByRole("button", { name: "Cancel 1 selected" }).click();
    await page.getByLabel("Reason").fill("not this one");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel 1 job" }).click();
    await page.getByText("1 job cancelled.").waitFor();
    await become(["cancelled", "scheduled", "scheduled", "scheduled"]);
  });

  it("cancels all that match, also those that no page shows", async () => {
    const { page } = watched;
    await page.getByText("3 in all").waitFor();
    await page.getByRole("button", { name: "Cancel all 3 that match" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel 3 jobs" }).click();
    await page.getByText("3 jobs cancelled.").waitFor();
    await become(Array(4).fill("cancelled"));
    await page.getByText("No job matches these filters.").waitFor();
  });
});

describe("A long list of jobs", () => {
  it("is shown a page at a time, by cursor", async () => {
    const stage = await dashboardStage();
    const { page, close } = await openPage(stage.url);
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const create = (subject: string) =>
      stage.api.create({ subject, body: "x", recipients: ["ada@example.com"], scheduledAt });
    for (let ten = 0; ten < 6; ten++) {
      await Promise.all(Array.from({ length: 10 }, (_, one) => create(`Crowd ${ten * 10 + one}`)));
    }
    await page.goto(`${stage.url}/#/jobs?q=crowd`);
    await page.getByText("60 in all").waitFor();
    const rows = page.getByRole("row");
    expect(await rows.count()).to.equal(51);
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("link", { name: "Crowd 0", exact: true }).waitFor();
    expect(await rows.count()).to.equal(11);
    await page.getByRole("button", { name: "Newer" }).click();
    await page.getByRole("row").nth(50).waitFor();
    await close();
  });
});

describe("A search among more jobs than one answer looks through", () => {
  it("says so, offers no action on all of them, and goes on with the older ones", async () => {
    const stage = await dashboardStage();
    const { page, close } = await openPage(stage.url);
    const answer = (nextCursor: string | null) => {
      const total = { total: null, totalPages: null };
      return { json: { data: [], pagination: { page: null, pageSize: 50, ...total, nextCursor } } };
    };
    await page.route(/\/api\/jobs\?/, (route) =>
      route.fulfill(answer(route.request().url().includes("cursor=") ? null : "older")),
    );
    await page.goto(`${stage.url}/#/jobs?q=rare`);
    await page.getByText("No job so far matches these filters.").waitFor();
    await page.getByText("Too many to count at once").waitFor();
    expect(await page.getByRole("button", { name: /that match/ }).count()).to.equal(0);
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByText("No job matches these filters.").waitFor();
    await close();
  });
});
