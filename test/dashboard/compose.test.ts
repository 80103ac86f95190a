import { expect } from "chai";
import type { Locator } from "playwright-core";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { eventually } from "../support/eventually.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

const templateWith = (picture: string): string =>
  `<style>p { color: rgb(200, 0, 0) }</style><p>Dear {{ name }}</p><script>document.title = "taken"</script><img src="${picture}">`;
const csv = 'email,name\nada@example.com,"Ada, Countess"\nbob@example.com,Bob\n';

describe("Composing a mailing", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  let tracker: Receiver;

  before(async () => {
    stage = await dashboardStage();
    tracker = await startReceiver();
    watched = await openPage(`${stage.url}/#/compose`);
  });
  after(async () => {
    await watched.close();
    await tracker.stop();
    expect(watched.sins).to.deep.equal([]);
  });

  it("shows all faults of it, and sends nothing", async () => {
    const { page } = watched;
    await page.getByLabel("Subject").fill("Composed");
    await page.getByLabel("Letter: HTML").fill("Dear {{ name }}");
    await page.getByLabel("Recipients: one address").fill("ada@example.com\nbob@");
    await page.getByRole("button", { name: "Check and preview" }).click();
    await page.getByRole("alert").getByText('recipients[1].email is "bob@"').first().waitFor();
  });

  it("shows each recipient's mail in a frame where nothing of it runs and nothing is fetched", async () => {
    const { page } = watched;
    await page.getByLabel("Letter: HTML").fill(templateWith(`${tracker.url}/pixel.png`));
    await page
      .getByLabel("Or choose a file")
      .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    await page.getByText("2 recipients with name").waitFor();
    await page.getByRole("button", { name: "Check and preview" }).click();
    const mail = page.frameLocator("iframe.mail");
    await mail.getByText("Dear Ada, Countess").waitFor();
    expect(await mail.locator("p").evaluate((p) => p.ownerDocument.defaultView?.getComputedStyle(p).color)).to.equal(
      "rgb(200, 0, 0)",
    );
    expect(await page.title()).to.equal("Compose – Waybill");
    await page.getByRole("button", { name: "Next" }).click();
    await mail.getByText("Dear Bob").waitFor();
    expect(tracker.received).to.deep.equal([]);
    await page.getByRole("tab", { name: "Source" }).click();
    await page.getByText("Content-Type: multipart/alternative").waitFor();
  });

  it("sends it with the keyboard, and goes to the job", async () => {
    const { page } = watched;
    await page.getByLabel("Subject").focus();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("Composed by hand");
    // In a field it sends nothing.
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Send to 2 recipients" }).focus();
    expect(new URL(page.url()).hash).to.equal("#/compose");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Composed by hand" }).waitFor();
    const jobId = /#\/jobs\/([^?]+)/.exec(page.url())?.[1] ?? "";
    const { progress } = await stage.api.ended(jobId);
    expect(progress).to.include({ total: 2, sent: 2 });
    await page.getByLabel("Progress of the job").getByText("completed").waitFor();
  });

  it("makes a mailing of more than a job takes several jobs, each once", async () => {
    const { page } = watched;
    await page.goto(`${stage.url}/#/compose`);
    await page.getByLabel("Subject").fill("Many composed");
    await page.getByLabel("Letter: HTML").fill("Hello");
    const many = Array.from({ length: 1001 }, (_, index) => `r${index}@example.com`).join("\n");
    await page.getByLabel("Recipients: one address").fill(many);
    await page.getByText("1,001 recipients, in several jobs").waitFor();
    // The second job meets trouble once; the first must not be made again.
    let isAway = true;
    await page.route("**/api/jobs", async (route) => {
      const { recipients } = route.request().postDataJSON() as { readonly recipients: readonly unknown[] };
      if (isAway && recipients.length === 1) {
        isAway = false;
        await route.fulfill({ status: 503, json: { title: "Away", detail: "Try again." } });
      } else await route.continue();
    });
    // On a busy machine the service may ask for one more press.
    const pressUntil = (told: Locator): Promise<void> =>
      eventually(async () => {
        await page.getByRole("button", { name: "Send to 1,001 recipients" }).click();
        await told.waitFor({ timeout: 20_000 });
      }, 60_000);
    await pressUntil(page.getByRole("alert").getByText("Try again."));
    // A look at what was sent meanwhile begins no other sending.
    await page.getByRole("navigation").getByRole("link", { name: "Jobs" }).click();
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Compose" }).click();
    await pressUntil(page.getByText("1,001 recipients in 2 jobs: accepted."));
    await page.unroute("**/api/jobs");
    // They are accepted, and in a list a moment later.
    await eventually(async () => {
      const { body } = await stage.api.get("/api/jobs?q=Many%20composed");
      const totals = (body as { data: { progress: { total: number } }[] }).data.map(({ progress }) => progress.total);
      expect(totals).to.deep.equal([1, 1000]);
    });
  });

  it("makes one draft of a mailing, also where its recipients need a second press", async () => {
    const { page } = watched;
    await page.goto(`${stage.url}/#/compose`);
    await page.getByLabel("Subject").fill("Drafted");
    await page.getByLabel("Letter: HTML").fill("Hello {{ name }}");
    await page.getByLabel("Recipients: one address").fill("email,name\nada@example.com,Ada\nbob@,Bob\n");
    let isAway = true;
    await page.route("**/recipients", (route) => (isAway ? route.abort() : route.continue()));
    await page.getByRole("button", { name: "Create a mailing" }).click();
    await page.getByRole("alert").getByText("The service cannot be reached").waitFor();
    isAway = false;
    await page.getByRole("navigation").getByRole("link", { name: "Jobs" }).click();
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Compose" }).click();
    await page.getByRole("button", { name: "Create a mailing" }).click();
    await page.getByText("The draft has 1 recipient; 1 line was faulty.").waitFor();
    await page.getByRole("heading", { name: "Drafted" }).waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).waitFor();
    await page.getByRole("link", { name: "Mailings", exact: true }).first().click();
    await page.getByRole("link", { name: "Drafted" }).waitFor();
    expect(await page.getByRole("link", { name: "Drafted" }).count()).to.equal(1);
    expect(await watched.findBarriers()).to.deep.equal([]);
  });
});
