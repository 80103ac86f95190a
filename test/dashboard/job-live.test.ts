import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const hostile = "<img src=x onerror=alert(1)> & <b>Grüße</b>";

describe("The page of a job", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;

  before(async () => {
    stage = await dashboardStage();
    stage.mailServer.answerRecipient("nobody@example.com", { code: 550, text: "5.1.1 no such user" });
    watched = await openPage(stage.url);
  });
  after(async () => {
    stage.mailServer.release();
    stage.mailServer.answerRecipient("nobody@example.com", null);
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const count = (kind: string) =>
    watched.page.getByLabel("Progress of the job").locator(`[data-count=${kind}]`).textContent();
  const recipients = ["ada@example.com", "nobody@example.com", "bob+tag@example.com"];

  it("follows it live, and its counts add up all the way", async () => {
    const { page } = watched;
    stage.mailServer.hold();
    const jobId = await stage.api.create({ subject: hostile, body: "Hello", recipients });
    await page.goto(`${stage.url}/#/jobs/${jobId}`);
    await page.getByLabel("Progress of the job").getByText("processing").waitFor();
    await page.getByRole("heading", { name: hostile }).waitFor();
    await page.getByLabel("1 failed, 2 pending of 3").first().waitFor();
    expect([await count("sent"), await count("pending"), await count("total")]).to.deep.equal(["0", "2", "3"]);

    stage.mailServer.release();
    await page.getByLabel("Progress of the job").getByText("completed").waitFor();
    expect([await count("sent"), await count("failed"), await count("pending")]).to.deep.equal(["2", "1", "0"]);
    expect(await count("total")).to.equal("3");
  });

  it("finds a recipient and tells what happened to it", async () => {
    const { page } = watched;
    await page.getByLabel("Address").fill("nobody");
    await page.getByText("1 recipient", { exact: true }).waitFor();
    await page.getByRole("button", { name: "nobody@example.com" }).click();
    await page.getByRole("list").getByText("no such user").waitFor();
    expect(new URL(page.url()).hash).to.contain("q=nobody");
    await page.getByLabel("Address").fill("");
    await page.getByLabel("State").selectOption("sent");
    await page.getByText("2 recipients", { exact: true }).waitFor();
  });

  it("groups what went wrong by what the mail server said", async () => {
    const { page } = watched;
    await page.getByRole("tab", { name: "Errors" }).click();
    const row = page.getByRole("row", { name: /rejected/ });
    await row.getByText("no such user").waitFor();
    await row.getByRole("link", { name: "nobody@example.com" }).waitFor();
  });
});

describe("A dashboard whose network swallows everything", () => {
  it("says after a while that the service cannot be reached, and goes on by itself", async () => {
    const stage = await dashboardStage();
    const { hostname, port } = new URL(stage.url);
    const network = await startTcpProxy({ host: hostname, port: Number(port) });
    const watched = await openPage(`http://127.0.0.1:${network.port}`);
    const { page } = watched;
    try {
      stage.mailServer.hold();
      const jobId = await stage.api.create({ subject: "Far away", body: "x", recipients: ["ada@example.com"] });
      await page.clock.install();
      await page.goto(`http://127.0.0.1:${network.port}/#/jobs/${jobId}`);
      await page.reload();
      await page.getByLabel("Progress of the job").getByText("processing").waitFor();
      network.stall();
      const trouble = page.getByText("The service cannot be reached").first();
      for (let minutes = 0; minutes < 3; minutes += 1) {
        await page.clock.fastForward(60_000);
        if (await trouble.isVisible()) break;
      }
      await trouble.waitFor({ timeout: 5000 });
      await network.restore();
      stage.mailServer.release();
      await page.getByLabel("Progress of the job").getByText("completed").waitFor();
      await page.goto(`http://127.0.0.1:${network.port}/#/jobs`);
      await page.getByRole("link", { name: "Far away" }).waitFor();
      network.stall();
      // A request that is repeated begins with the first step.
      for (const _ of [1, 2]) await page.clock.fastForward(40_000);
      await page.getByRole("main").getByText("The service cannot be reached").waitFor({ timeout: 5000 });
    } finally {
      stage.mailServer.release();
      await watched.close();
      await network.stop();
    }
  });
});

describe("A job that waits", () => {
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

  it("is paused, resumed and cancelled with the keyboard alone, and the reason is kept", async () => {
    const { page } = watched;
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const jobId = await stage.api.create({ subject: "Later", body: "x", recipients: ["ada@example.com"], scheduledAt });
    await page.goto(`${stage.url}/#/jobs/${jobId}`);
    const press = async (name: string, reason: string): Promise<void> => {
      await page.getByRole("button", { name, exact: true }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await page.getByLabel("Reason").focus();
      await page.keyboard.type(reason);
      // Past the button that does nothing.
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    const status = (text: string) => page.getByLabel("Progress of the job").getByText(text, { exact: true }).waitFor();
    await press("Pause", "a look at the list first");
    await status("paused");
    await press("Resume", "");
    await status("scheduled");
    await press("Cancel", "wrong list");
    await status("cancelled");
    const { body } = await stage.api.get(`/api/jobs/${jobId}/events`);
    const reasons = (body as { type: string; data: { reason?: string | null } }[])
      .filter(({ type }) => ["JobPaused", "JobResumed", "JobCancelled"].includes(type))
      .map(({ data }) => data.reason);
    expect(reasons).to.deep.equal(["a look at the list first", null, "wrong list"]);
  });

  it("is not shown at a wrong address", async () => {
    await watched.page.goto(`${stage.url}/#/jobs/01a1fde9-0000-71ae-8002-ff7110e919c8`);
    await watched.page.getByRole("alert").getByText("There is no job with this id.").waitFor();
  });
});
