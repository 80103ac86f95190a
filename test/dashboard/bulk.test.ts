import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { dialogIsGone } from "../support/dialog.ts";
import { eventually } from "../support/eventually.ts";

const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();

describe("Many jobs at once", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  /** What the page asked the service to change. */
  const changes: string[] = [];

  before(async () => {
    stage = await dashboardStage();
    watched = await openPage(stage.url);
    watched.page.on("request", (request) => {
      // A dry run counts, and changes nothing.
      if (request.method() === "GET" || request.postDataJSON()?.dryRun === true) return;
      changes.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
  });
  beforeEach(() => {
    changes.length = 0;
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const create = (subject: string) =>
    stage.api.create({ subject, body: "x", recipients: ["ada@example.com"], scheduledAt });
  const statusOf = async (id: string) => ((await stage.api.get(`/api/jobs/${id}`)).body as { status: string }).status;
  const open = async (subject: string, count: number): Promise<void> => {
    await watched.page.goto(`${stage.url}/#/jobs?q=${encodeURIComponent(subject)}`);
    await watched.page.getByText(`${count} in all`, { exact: true }).waitFor();
  };
  const dialog = () => watched.page.getByRole("dialog");
  // Not only hidden: the page has taken notice.
  const gone = () => dialogIsGone(watched.page);

  it("are not offered where nothing was chosen: no filter and no selection", async () => {
    const { page } = watched;
    await create("Not offered");
    await page.goto(`${stage.url}/#/jobs`);
    await page.getByRole("link", { name: "Not offered" }).waitFor();
    expect(await page.getByRole("button", { name: /that match|that matches/ }).count()).to.equal(0);
    expect(await page.getByRole("button", { name: "Cancel 0 selected" }).isDisabled()).to.equal(true);
  });

  it("are not acted on by a key that stays pressed", async () => {
    const { page } = watched;
    const id = await create("Two Enters");
    await open("Two Enters", 1);
    await page.getByRole("button", { name: "Cancel the one that matches" }).focus();
    await page.keyboard.press("Enter");
    await dialog().waitFor();
    await page.keyboard.press("Enter");
    await gone();
    await page.keyboard.press("Enter");
    await dialog().getByLabel("Reason").fill("a slip");
    await page.keyboard.press("Enter");
    await dialog().getByRole("button", { name: "Cancel 1 job", exact: true }).waitFor();
    await dialog().getByRole("button", { name: "Keep it" }).click();
    await gone();
    expect(changes).to.deep.equal([]);
    expect(await statusOf(id)).to.equal("scheduled");
  });

  it("are those that were there when it was asked: what comes to match later is left alone", async () => {
    const { page } = watched;
    const ids = [await create("Counted one"), await create("Counted two"), await create("Counted three")];
    const ended = ids[2] ?? "";
    await stage.api.delete(`/api/jobs/${ended}`);
    await open("Counted", 3);
    await page.getByRole("button", { name: "Cancel all 3 that match" }).click();
    // One of them has ended already, and is none that it can be done to.
    await dialog().getByRole("button", { name: "Cancel 2 jobs", exact: true }).waitFor();
    const later = await create("Counted later");
    await eventually(async () => {
      const { body } = await stage.api.get("/api/jobs?q=Counted");
      expect((body as { data: unknown[] }).data).to.have.length(4);
    });
    await dialog().getByRole("button", { name: "Cancel 2 jobs", exact: true }).click();
    await page.getByText("2 jobs cancelled.").waitFor();
    expect(await Promise.all([...ids, later].map(statusOf))).to.deep.equal([
      "cancelled",
      "cancelled",
      "cancelled",
      "scheduled",
    ]);
    // The service does it, in one call.
    expect(changes).to.deep.equal(["POST /api/jobs/bulk"]);
  });

  it("are more than 20 only after their number is typed", async () => {
    const { page } = watched;
    const ids = await Promise.all(Array.from({ length: 21 }, (_, index) => create(`Throng ${index}`)));
    await open("Throng", 21);
    await page.getByRole("button", { name: "Cancel all 21 that match" }).click();
    const confirm = dialog().getByRole("button", { name: "Cancel 21 jobs", exact: true });
    await confirm.waitFor();
    expect(await confirm.isDisabled()).to.equal(true);
    await dialog().getByLabel("Type 21").fill("12");
    expect(await confirm.isDisabled()).to.equal(true);
    await dialog().getByLabel("Type 21").fill("21");
    await page.keyboard.press("Enter");
    expect(await confirm.isEnabled()).to.equal(true);
    expect(changes).to.deep.equal([]);
    expect(await watched.findBarriers()).to.deep.equal([]);
    await confirm.click();
    await page.getByText("21 jobs cancelled.").waitFor();
    await eventually(async () => {
      expect(new Set(await Promise.all(ids.map(statusOf)))).to.deep.equal(new Set(["cancelled"]));
    });
  });

  it("are paused, and go on again where that is taken back", async () => {
    const { page } = watched;
    const ids = [await create("Halt one"), await create("Halt two")];
    await open("Halt", 2);
    await page.getByRole("button", { name: "Pause all 2 that match" }).click();
    await dialog().getByRole("button", { name: "Pause 2 jobs", exact: true }).click();
    await page.getByText("2 jobs paused.").waitFor();
    expect(await Promise.all(ids.map(statusOf))).to.deep.equal(["paused", "paused"]);
    expect(await watched.findBarriers()).to.deep.equal([]);
    await page.getByRole("button", { name: "Undo: resume 2 jobs" }).click();
    await page.getByText("2 jobs resumed.").waitFor();
    expect(await Promise.all(ids.map(statusOf))).to.deep.equal(["scheduled", "scheduled"]);
    expect(changes).to.deep.equal(["POST /api/jobs/bulk", "POST /api/jobs/bulk"]);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByText("2 jobs resumed.").waitFor({ state: "detached" });
  });

  it("go on with the same call where the service was away for a moment", async () => {
    const { page } = watched;
    const id = await create("Interrupted");
    await open("Interrupted", 1);
    await page.getByRole("button", { name: "Cancel the one that matches" }).click();
    const confirm = dialog().getByRole("button", { name: "Cancel 1 job", exact: true });
    await confirm.waitFor();
    await page.route("**/api/jobs/bulk", (route) => route.abort(), { times: 1 });
    await confirm.click();
    await page.getByText("1 job cancelled.").waitFor();
    expect(await statusOf(id)).to.equal("cancelled");
    expect(changes).to.have.length(2);
  });

  it("are done one action after the other: what is going on can be seen and stopped", async () => {
    const { page } = watched;
    const id = await create("One by one");
    await open("One by one", 1);
    let isHeld = true;
    await page.route("**/api/jobs/bulk", async (route) => {
      if (route.request().postDataJSON().dryRun !== true) await eventually(() => expect(isHeld).to.equal(false));
      await route.continue();
    });
    await page.getByRole("button", { name: "Pause the one that matches" }).click();
    await dialog().getByRole("button", { name: "Pause 1 job", exact: true }).click();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Cancel the one that matches" }).isDisabled()).to.equal(true);
    isHeld = false;
    await page.getByText("1 job paused.").waitFor();
    expect(await page.getByRole("button", { name: "Cancel the one that matches" }).isDisabled()).to.equal(false);
    await page.unroute("**/api/jobs/bulk");
    expect(await statusOf(id)).to.equal("paused");
  });

  it("are none where none of them can be cancelled any more", async () => {
    const { page } = watched;
    await open("Throng", 21);
    await page.getByRole("button", { name: "Cancel all 21 that match" }).click();
    await dialog().getByText("No matching job can be cancelled").waitFor();
    expect(
      await dialog()
        .getByRole("button", { name: /^Cancel/ })
        .isDisabled(),
    ).to.equal(true);
    await page.keyboard.press("Escape");
    await gone();
  });
});
