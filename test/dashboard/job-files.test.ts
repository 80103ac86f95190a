import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { Download } from "playwright-core";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

describe("What a job leaves behind", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  let receiver: Receiver;

  before(async () => {
    stage = await dashboardStage();
    receiver = await startReceiver();
    watched = await openPage(stage.url);
  });
  after(async () => {
    await watched.close();
    await receiver.stop();
    expect(watched.sins).to.deep.equal([]);
  });

  const open = async (jobId: string): Promise<void> => {
    await watched.page.goto(`${stage.url}/#/jobs/${jobId}`);
  };
  const saved = async (button: string): Promise<{ readonly file: Download; readonly text: string }> => {
    const { page } = watched;
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button }).click(),
    ]);
    return { file, text: await readFile(await file.path(), "utf8") };
  };

  it("is each recipient's mail, in a frame where nothing of it runs, and the proof of its history", async () => {
    const { page } = watched;
    const body = '<p>Dear {{ name }}</p><script>document.title = "taken"</script>';
    const recipients = [
      { email: "ada@example.com", variables: { name: "Ada" } },
      { email: "bob@example.com", variables: { name: "Bob" } },
    ];
    const jobId = await stage.api.create({ subject: "Seen again", body, recipients });
    await stage.api.ended(jobId);
    await open(jobId);
    await page.getByRole("button", { name: "bob@example.com" }).click();
    await page.getByRole("button", { name: "The mail to this recipient" }).click();
    await page.frameLocator("iframe.mail").getByText("Dear Bob").waitFor();
    expect(await page.title()).to.equal("Jobs – Waybill");
    expect(await watched.findBarriers()).to.deep.equal([]);
    const { file, text } = await saved("Download the evidence");
    expect(file.suggestedFilename()).to.equal(`evidence-${jobId}.ndjson`);
    expect(text).to.contain("JobCompleted");
  });

  it("is erased for good, and the history stays", async () => {
    const { page } = watched;
    await page.getByRole("button", { name: "Erase the content" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Erase it for good" }).click();
    await page.getByRole("heading", { name: "content erased" }).waitFor();
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByText("JobContentErased").waitFor();
  });

  it("is the file of a report, which has rows and no recipients", async () => {
    const { page } = watched;
    const jobId = await stage.api.create({ type: "report.export", payload: { of: "jobs", format: "csv" } });
    await stage.api.ended(jobId);
    await open(jobId);
    await page.getByRole("heading", { name: "report.export" }).waitFor();
    const { file, text } = await saved("Download the report");
    expect(file.suggestedFilename()).to.equal(`jobs-${jobId}.csv`);
    const rows = text.trim().split("\r\n").length - 1;
    await page.getByText(new RegExp(`^${rows.toLocaleString("en")} rows?$`)).waitFor();
    expect(await page.getByRole("tab", { name: "Recipients" }).count()).to.equal(0);
    expect(await watched.findBarriers()).to.deep.equal([]);
  });

  it("is what each URL of a job answered that calls webhooks", async () => {
    const { page } = watched;
    const payload = { event: "order.paid", data: { order: 17 } };
    const jobId = await stage.api.create({ type: "webhook.deliver", payload, recipients: [`${receiver.url}/paid`] });
    await stage.api.ended(jobId);
    await open(jobId);
    await page.getByText("1 of 1 delivered").waitFor();
    await page.getByRole("button", { name: `${receiver.url}/paid` }).click();
    await page.getByText("run 1, attempt 1").waitFor();
    expect(await page.getByRole("button", { name: "The mail to this recipient" }).count()).to.equal(0);
  });
});

describe("A job that has not started", () => {
  it("is put to another priority, and to another time, each without the other", async () => {
    const stage = await dashboardStage();
    const { page, close, sins } = await openPage(stage.url);
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const recipients = ["ada@example.com"];
    const jobId = await stage.api.create({ subject: "Put off", body: "x", recipients, scheduledAt });
    await page.goto(`${stage.url}/#/jobs/${jobId}`);
    await page.getByRole("button", { name: "Reschedule" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Priority").selectOption("high");
    // The line disappears by itself: it is waited for before a busy machine could miss it.
    const told = page.getByText("The job is scheduled.").waitFor();
    await dialog.getByRole("button", { name: "Reschedule this job" }).click();
    await told;
    expect((await stage.api.get(`/api/jobs/${jobId}`)).body).to.include({ priority: "high", scheduledAt });
    await page.getByRole("button", { name: "Reschedule" }).click();
    await dialog.getByLabel("Not before").fill("2099-01-01T12:00");
    await dialog.getByRole("button", { name: "Reschedule this job" }).click();
    await page.getByText("2099-01-01 12:00:00").waitFor();
    expect((await stage.api.get(`/api/jobs/${jobId}`)).body).to.include({ priority: "high" });
    await close();
    expect(sins).to.deep.equal([]);
  });
});
