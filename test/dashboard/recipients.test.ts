import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

describe("The page of recipients", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  const address = "ledger+one@example.com";

  before(async () => {
    stage = await dashboardStage();
    for (const subject of ["Ledger taken", "Ledger refused"]) {
      const code = { code: 554, text: "5.7.1 not today" };
      stage.mailServer.answerRecipient(address, subject === "Ledger refused" ? code : null);
      await stage.api.ended(await stage.api.create({ subject, body: "x", recipients: [address, "ada@example.com"] }));
    }
    stage.mailServer.answerRecipient(address, null);
    watched = await openPage(`${stage.url}/#/recipients`);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const row = (subject: string) => watched.page.getByRole("row", { name: subject });

  it("tells everything that was sent to an address, or failed to be, with what the mail server said", async () => {
    const { page } = watched;
    await page.getByLabel("Address, or").fill(address);
    await page.keyboard.press("Enter");
    await row("Ledger taken").getByText("sent").first().waitFor();
    await row("Ledger refused").getByText("not today").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });

  it("gives it all as a file, with the mails", async () => {
    const { page } = watched;
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export all of it" }).click(),
    ]);
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\n");
    expect(file.suggestedFilename()).to.equal("recipient.ndjson");
    expect(JSON.parse(lines.at(-1) ?? "")).to.deep.equal({ kind: "end", mailings: 2 });
  });

  it("leads to the mailing, at this recipient", async () => {
    const { page } = watched;
    await row("Ledger taken").getByRole("link").click();
    await page.getByRole("heading", { name: "Ledger taken" }).waitFor();
    await page.getByText("1 recipient", { exact: true }).waitFor();
    await page.goBack();
  });

  it("erases it everywhere, for a reason that must contain no address", async () => {
    const { page } = watched;
    await page.getByRole("button", { name: "Erase" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("asked by ada@example.com");
    await dialog.getByRole("button", { name: "Erase this address for good" }).click();
    await dialog.getByRole("alert").getByText("without control characters and addresses").first().waitFor();
    await dialog.getByLabel("Reason").fill("a request under the law");
    await dialog.getByRole("button", { name: "Erase this address for good" }).click();
    await page.getByText("No mailing to this address is recorded.").waitFor();
  });
});
