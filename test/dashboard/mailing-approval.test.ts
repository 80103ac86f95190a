import { expect } from "chai";
import { createAccess } from "../../src/access/access.ts";
import { readDashboard } from "../../src/dashboard/dashboard.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { bearer, newKey, ringOf } from "../support/keys.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("The page of a mailing that needs an approval", () => {
  const asking = newKey({ scopes: ["jobs:read", "jobs:write", "jobs:approve"] });
  const approving = newKey({ scopes: ["jobs:read", "jobs:approve"] });
  let api: RunningApi;
  let requester: WatchedPage;
  let approver: WatchedPage;
  let path: string;

  before(async () => {
    const settings = { mode: "required", host: "127.0.0.1", rateLimit: null, mailFrom: "a@example.org" } as const;
    api = await startApi({
      access: createAccess(ringOf([asking.record, approving.record]), settings),
      dashboard: await readDashboard({ hasMailbox: false, eventTypes: [] }),
    });
    const headers = bearer(asking.text);
    const letter = { subject: "To approve", body: "x", approval: "required" };
    const { body } = await api.ask("POST", "/api/mailings", { body: letter, headers });
    path = `mailings/${body.mailingId}`;
    const ndjson = { ...headers, "Content-Type": "application/x-ndjson" };
    await api.ask("PUT", `/api/${path}/recipients`, { body: '"ada@example.com"\n', headers: ndjson });
    requester = await signedIn(asking.text);
    approver = await signedIn(approving.text);
  });
  after(async () => {
    await requester.close();
    await approver.close();
    await api.close();
    expect([...requester.sins, ...approver.sins]).to.deep.equal([]);
  });

  const signedIn = async (key: string): Promise<WatchedPage> => {
    const watched = await openPage(`${api.url}/#/${path}`);
    await watched.page.getByLabel("API key").fill(key);
    await watched.page.keyboard.press("Enter");
    await watched.page.getByRole("heading", { name: "To approve" }).waitFor();
    return watched;
  };
  const start = async (): Promise<void> => {
    await requester.page.getByRole("button", { name: "Start", exact: true }).click();
    await requester.page.getByRole("dialog").getByRole("button", { name: "Start this mailing" }).click();
    await requester.page.getByText("Another key must approve it").waitFor();
  };
  const digest = async () =>
    (await api.ask("GET", `/api/${path}`, { headers: bearer(asking.text) })).body.approval.digest;
  const buttons = ({ page }: WatchedPage) => page.getByRole("main").getByRole("button").allTextContents();

  it("offers a start to the key that may write, and nothing to the one that may not", async () => {
    expect(await buttons(approver)).to.deep.equal([]);
    await start();
    expect(await buttons(requester)).to.deep.equal(["Cancel"]);
  });

  it("shows to another key who asked for what, and sends back its reason", async () => {
    const { page } = approver;
    await page.getByText(await digest()).waitFor();
    const approval = page.getByRole("region", { name: "Approval" });
    await approval.getByText(`key:${asking.record.id}`).waitFor();
    expect(await approver.findBarriers()).to.deep.equal([]);
    await approval.getByRole("button", { name: "Reject" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Reject this mailing" }).click();
    // Not without a reason.
    expect(await dialog.isVisible()).to.equal(true);
    await dialog.getByLabel("Reason").fill("wrong year");
    await dialog.getByRole("button", { name: "Reject this mailing" }).click();
    await requester.page.getByText("wrong year", { exact: true }).waitFor();
    await requester.page.getByRole("button", { name: "Start", exact: true }).waitFor();
  });

  it("starts it once another key approves what the page shows", async () => {
    await start();
    const { page } = approver;
    await page.getByRole("button", { name: "Approve" }).click();
    await page
      .getByRole("dialog")
      .getByText(await digest())
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Approve this mailing" }).click();
    await page.getByRole("region", { name: "Approval" }).getByText("approved").waitFor();
    await requester.page.locator(".facts .status", { hasText: /^processing$/ }).waitFor();
  });
});
