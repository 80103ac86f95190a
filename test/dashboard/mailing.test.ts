import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { dialogIsGone } from "../support/dialog.ts";

describe("The page of a mailing", () => {
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

  const open = async (settings: object): Promise<string> => {
    const mailingId = await stage.api.createMailing({ subject: "Hello", body: "x", ...settings });
    await watched.page.goto(`${stage.url}/#/mailings/${mailingId}`);
    return mailingId;
  };
  const importFile = async (name: string, content: string): Promise<void> => {
    const { page } = watched;
    const file = { name, mimeType: "application/vnd.ms-excel", buffer: Buffer.from(content) };
    await page.getByLabel("CSV with a column").setInputFiles(file);
    await page.getByRole("button", { name: "Import" }).click();
    await page
      .getByRole("status")
      .getByText(/recipients? added/)
      .waitFor();
  };
  const press = async (button: string, confirm: string): Promise<void> => {
    await watched.page.getByRole("button", { name: button, exact: true }).click();
    await watched.page.getByRole("dialog").getByRole("button", { name: confirm }).click();
    await dialogIsGone(watched.page);
  };
  const status = (of: string) => watched.page.locator(".facts .status", { hasText: new RegExp(`^${of}$`) }).waitFor();
  const parts = async (state: string, count: number) =>
    watched.page.locator(`[data-parts="${state}"]`, { hasText: new RegExp(`^${count}$`) }).waitFor();

  it("imports files, names the lines that are faulty, and starts what was imported", async () => {
    const { page } = watched;
    const mailingId = await open({ name: "From files" });
    await page.getByRole("button", { name: "Cancel" }).waitFor();
    // There is nobody to mail.
    expect(await page.getByRole("button", { name: "Start" }).count()).to.equal(0);
    await importFile("people.csv", "email,name\nada@example.com,Ada\nbob@example.com,Bob\nnobody@,Nobody\n");
    await page.getByText("3 lines: 2 added, 0 duplicates, 1 faulty.").waitFor();
    await page.getByText('Line 4: email is "nobody@"; expected an e-mail address').waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
    await importFile("more.NDJSON", '"ada@example.com"\n{"email": "carol@example.com", "variables": {"name": "C"}}\n');
    await page.getByText("2 lines: 1 added, 1 duplicate, 0 faulty.").waitFor();
    await page.getByText("0 of 2", { exact: true }).waitFor();
    await parts("not made", 2);

    await press("Start", "Start this mailing");
    await status("completed");
    await parts("done", 2);
    expect(await page.locator('[data-count="sent"]').textContent()).to.equal("3");
    expect(await page.getByLabel("CSV with a column").count()).to.equal(0);
    expect(await page.locator(".title").getByRole("button").count()).to.equal(0);
    // The parts are in the order of the imports.
    await page.getByRole("link", { name: "Part 2: done" }).click();
    await page.getByRole("button", { name: "carol@example.com" }).waitFor();
    await page.getByRole("link", { name: mailingId }).click();
    await page.getByRole("heading", { name: "From files" }).waitFor();
  });

  it("says why a file was not read", async () => {
    const { page } = watched;
    await open({});
    const file = { name: "broken.csv", mimeType: "text/csv", buffer: Buffer.from('email\n"ada@example.com\n') };
    await page.getByLabel("CSV with a column").setInputFiles(file);
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByRole("alert").getByText("line 2 is no CSV").waitFor();
  });

  it("stops an import that takes too long, which can be sent again", async () => {
    const { page } = watched;
    const mailingId = await open({});
    const path = `**/api/mailings/${mailingId}/recipients`;
    await page.route(path, () => {});
    const file = { name: "long.ndjson", mimeType: "", buffer: Buffer.from('"ada@example.com"\n') };
    await page.getByLabel("CSV with a column").setInputFiles(file);
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByRole("progressbar", { name: "Sent of the file" }).waitFor();
    expect(await page.getByRole("button", { name: "Import" }).isDisabled()).to.equal(true);
    expect(await watched.findBarriers()).to.deep.equal([]);
    // Else the browser may hand the stopped request on to the service once it is not held any more.
    const isOver = page.waitForEvent("requestfailed");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("progressbar").waitFor({ state: "detached" });
    await isOver;
    await page.unroute(path);
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByText("1 line: 1 added, 0 duplicates, 0 faulty.").waitFor();
  });

  it("takes a start back within its time", async () => {
    const { page } = watched;
    await open({ undoFor: 600 });
    await importFile("one.ndjson", '"ada@example.com"\n');
    await press("Start", "Start this mailing");
    await status("scheduled");
    await page
      .getByRole("timer")
      .getByText(/^(9:\d\d|10:00)$/)
      .waitFor();
    const before = await page.getByRole("timer").textContent();
    await page
      .getByRole("timer")
      .filter({ hasNotText: before ?? "" })
      .waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
    await page.getByRole("button", { name: "Undo the start" }).click();
    await status("draft");
    expect(await page.getByRole("timer").count()).to.equal(0);
  });

  it("shows that it stopped by itself, and resumes, pauses, cancels and retries it", async () => {
    const { page } = watched;
    stage.mailServer.answerRecipient("bad@example.com", { code: 554, text: "5.7.1 not today" });
    // Each part has what may go in a minute: one recipient.
    await open({ rate: 12, stopWhen: { failureRate: 0.05, after: 1 } });
    await page.getByText("12 recipients an hour").waitFor();
    await page.getByText("more than 5 % fail, of at least 1").waitFor();
    await importFile("three.ndjson", '"bad@example.com"\n"b@example.com"\n"c@example.com"\n');
    await press("Start", "Start this mailing");
    const alert = page.getByRole("alert").filter({ hasText: "This mailing stopped by itself" });
    await alert.getByText("1 of 1 recipients failed; it stops above 5 %.").waitFor();
    await parts("failed", 1);
    await parts("not made", 2);
    await page.getByRole("link", { name: "Part 1: failed" }).waitFor();
    expect(await page.locator(".strip").getByRole("listitem").allTextContents()).to.deep.equal([
      "Part 1: failed",
      "Part 2: not made",
      "Part 3: not made",
    ]);
    expect(await watched.findBarriers()).to.deep.equal([]);

    await press("Resume", "Resume this mailing");
    await status("processing");
    await alert.waitFor({ state: "detached" });
    await press("Pause", "Pause this mailing");
    await status("paused");
    await press("Cancel", "Cancel this mailing");
    await status("cancelled");

    await open({});
    await importFile("one.ndjson", '"bad@example.com"\n');
    await press("Start", "Start this mailing");
    await status("failed");
    stage.mailServer.answerRecipient("bad@example.com", null);
    await press("Retry failed", "Retry the failed parts");
    await status("completed");
    await parts("done", 1);
  });
});
