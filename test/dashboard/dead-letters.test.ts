import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

describe("The page of dead letters", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  const refused = ["refused-1@example.com", "refused-2@example.com"];

  before(async () => {
    stage = await dashboardStage();
    // A refusal that says nothing of the address: it is not kept from other mailings.
    for (const address of refused) stage.mailServer.answerRecipient(address, { code: 554, text: "5.7.1 not today" });
    for (const subject of ["Dead to ignore", "Dead to requeue"]) {
      await stage.api.ended(await stage.api.create({ subject, body: "x", recipients: refused }));
    }
    for (const address of refused) stage.mailServer.answerRecipient(address, null);
    watched = await openPage(stage.url);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const row = (subject: string) => watched.page.getByRole("row", { name: subject });

  it("is where the overview leads, which groups failures by their reason", async () => {
    const { page } = watched;
    const failures = page.getByLabel("Failures", { exact: true });
    await failures.getByRole("link", { name: "too-many-failures" }).click();
    await row("Dead to ignore").waitFor();
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
