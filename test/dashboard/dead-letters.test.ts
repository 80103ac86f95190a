import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

describe("The page of dead letters", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  const refused = ["refused-1@example.com", "refused-2@example.com"];
  const full = ["full-1@example.com", "full-2@example.com"];

  before(async () => {
    stage = await dashboardStage();
    // A refusal that says nothing of the address: it is not kept from other mailings.
    for (const address of refused) stage.mailServer.answerRecipient(address, { code: 554, text: "5.7.1 not today" });
    for (const subject of ["Dead to ignore", "Dead to requeue"]) {
      await stage.api.ended(await stage.api.create({ subject, body: "x", recipients: refused }));
    }
    for (const address of full) stage.mailServer.answerRecipient(address, { code: 554, text: "5.2.2 the box is full" });
    for (const subject of ["Full one", "Full two", "Full three"]) {
      await stage.api.ended(await stage.api.create({ subject, body: "x", recipients: full }));
    }
    for (const address of [...refused, ...full]) stage.mailServer.answerRecipient(address, null);
    watched = await openPage(stage.url);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const cause = (words: string) => watched.page.getByLabel("Causes", { exact: true }).getByRole("row", { name: words });
  const row = (subject: string) => watched.page.getByRole("row", { name: subject });

  it("is where the overview leads, which groups failures by their reason", async () => {
    const { page } = watched;
    const failures = page.getByLabel("Failures", { exact: true });
    await failures.getByRole("row", { name: "not today" }).getByRole("link", { name: "too-many-failures" }).click();
    await row("Dead to ignore").waitFor();
    expect(await row("Full one").count()).to.equal(0);
    await page.getByRole("button", { name: "Of every cause" }).click();
    await row("Full one").waitFor();
  });

  it("says what the mail server said", async () => {
    await row("Dead to ignore").getByText("554 5.7.1 not today").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });

  it("requeues all that failed for one reason, in one call, and takes that back", async () => {
    const { page } = watched;
    const calls: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "GET" && request.postDataJSON()?.dryRun !== true)
        calls.push(new URL(request.url()).pathname);
    });
    // The new jobs must not end before they are cancelled, however slow the machine is.
    for (const address of full) stage.mailServer.answerRecipient(address, { code: 451, text: "4.7.1 later" });
    await cause("the box is full").getByRole("button", { name: "Requeue all 3" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Requeue 3 dead letters", exact: true }).click();
    // On a busy machine the service may ask for the call once more, and then tells of the rest only.
    await page.getByText(/^\d dead letters? requeued as new jobs/).waitFor();
    expect(new Set(calls)).to.deep.equal(new Set(["/api/dead-letters/bulk"]));
    // At once: the offer goes after some seconds.
    await page.getByRole("button", { name: /^Undo: cancel \d new jobs?$/ }).click();
    await page.getByText(/^\d new jobs? cancelled\./).waitFor();
    await cause("the box is full").waitFor({ state: "detached" });
    for (const address of full) stage.mailServer.answerRecipient(address, null);
    await row("Dead to requeue").waitFor();
  });

  it("sets one aside, for a reason", async () => {
    const { page } = watched;
    await row("Dead to ignore").getByRole("button", { name: "Ignore" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Ignore this dead letter" }).click();
    // Without a reason the browser itself does not let it through.
    expect(await dialog.isVisible()).to.equal(true);
    await dialog.getByLabel("Reason").fill("an old list");
    await dialog.getByRole("button", { name: "Ignore this dead letter" }).click();
    await row("Dead to ignore").waitFor({ state: "detached" });
    await page.getByLabel("Decision").selectOption("ignored");
    await row("Dead to ignore").getByText("an old list").waitFor();
  });

  it("runs one again as a new job, and goes there", async () => {
    const { page } = watched;
    await page.getByLabel("Decision").selectOption("open");
    await row("Dead to requeue").getByRole("button", { name: "Requeue" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Requeue as a new job" }).click();
    await page.getByRole("heading", { name: "Dead to requeue" }).waitFor();
    await page.getByLabel("Progress of the job").getByText("completed").waitFor();
    await page.getByLabel("2 sent of 2").first().waitFor();
  });
});
