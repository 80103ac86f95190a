import { expect } from "chai";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { dialogIsGone } from "../support/dialog.ts";
import { eventually } from "../support/eventually.ts";

const scheduledAt = "2037-01-01T00:00:00.000Z";

describe("The question why a job or a mailing is where it is", () => {
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

  const later = (subject: string): Promise<string> =>
    stage.api.create({ subject, body: "x", recipients: ["ada@example.com"], scheduledAt });
  const panelOf = ({ page }: WatchedPage) => page.getByRole("region", { name: "Why is it here?" });
  const press = async (button: string, confirm: string, reason = ""): Promise<void> => {
    const { page } = watched;
    await page.getByRole("button", { name: button, exact: true }).click();
    if (reason !== "") await page.getByRole("dialog").getByLabel("Reason").fill(reason);
    await page.getByRole("dialog").getByRole("button", { name: confirm }).click();
    await dialogIsGone(page);
  };

  it("is answered for a job with each reason, since when, and what would change it, until it has ended", async () => {
    const { page } = watched;
    const jobId = await later("Why later");
    const { createdAt } = (await stage.api.get(`/api/jobs/${jobId}`)).body as { createdAt: string };
    await page.goto(`${stage.url}/#/jobs/${jobId}`);
    const panel = panelOf(watched);
    await panel.getByText(`The job is scheduled for ${scheduledAt}.`).waitFor();
    expect(await panel.locator("time").evaluateAll((times) => times.map((time) => time.getAttribute("title")))).to.eql([
      createdAt,
      scheduledAt,
    ]);
    await panel.getByText("What would change it").waitFor();
    await panel.getByText("a new scheduledAt").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);

    await press("Pause", "Pause this job", "the date is wrong");
    await panel.getByText("The job was paused by anonymous: the date is wrong.").waitFor();
    await panel.getByText("a resume", { exact: true }).waitFor();
    await press("Cancel", "Cancel this job");
    await panel.waitFor({ state: "detached" });
  });

  it("is answered for a mailing, and again as it changes", async () => {
    const { page } = watched;
    const mailingId = await stage.api.createMailing({ subject: "Why a mailing", body: "x", undoFor: 600 });
    await page.goto(`${stage.url}/#/mailings/${mailingId}`);
    const panel = panelOf(watched);
    await panel.getByText("The mailing is a draft without recipients.").waitFor();
    await panel.getByText("recipients, and then its start").waitFor();
    const file = { name: "one.ndjson", mimeType: "", buffer: Buffer.from('"ada@example.com"\n') };
    await page.getByLabel("CSV with a column").setInputFiles(file);
    await page.getByRole("button", { name: "Import" }).click();
    await panel.getByText("The mailing is a draft with 1 part.").waitFor();
    await press("Start", "Start this mailing");
    await panel.getByText("The start of the mailing can be taken back until").waitFor();
    await panel.getByText("1 of 1 part not ended").waitFor();
    expect(await panel.getByRole("listitem").count()).to.be.greaterThan(1);
    expect(await watched.findBarriers()).to.deep.equal([]);
    await press("Cancel", "Cancel this mailing");
    await panel.waitFor({ state: "detached" });
  });

  it("names what could not be found out", async () => {
    const { page } = watched;
    const jobId = await later("Why not known");
    const path = `**/api/jobs/${jobId}/explain`;
    const notKnown = ["workers", "jobs-ahead"];
    await page.route(path, async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...answer, notKnown } });
    });
    await page.goto(`${stage.url}/#/jobs/${jobId}`);
    await panelOf(watched).getByText("Not to be found out now: what the workers do, how many jobs go first.").waitFor();
    await page.unroute(path);
  });

  it("is asked again after five seconds, and says what the service says where it gets no answer", async () => {
    const jobId = await later("Why so often");
    const slow = await openPage(stage.url);
    const { page } = slow;
    const problem = { title: "The log is away", detail: "Ask again in a moment.", code: "event-log-unavailable" };
    const reasonOf = (number: number) => ({
      code: "scheduled",
      message: `Answer ${number}.`,
      since: null,
      until: null,
    });
    let asked = 0;
    let isAway = false;
    await page.route(`**/api/jobs/${jobId}/explain`, async (route) => {
      asked += 1;
      const answer = {
        id: jobId,
        status: "scheduled",
        reasons: [{ ...reasonOf(asked), changedBy: null }],
        notKnown: [],
      };
      await route.fulfill(isAway ? { status: 503, json: problem } : { json: answer });
    });
    // The page's own time, which stands still from here on.
    await page.clock.install();
    await page.goto(`${stage.url}/#/jobs/${jobId}`);
    const panel = panelOf(slow);
    await panel.getByText(/^Answer \d+\.$/).waitFor();
    await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
    const latest = () => eventually(async () => expect(await panel.textContent()).to.contain(`Answer ${asked}.`));
    await latest();

    const before = asked;
    await page.clock.runFor(4900);
    // What the page asked for before this has been asked by then.
    await page.evaluate("fetch('api/me').then((answer) => answer.text())");
    expect(asked).to.equal(before);
    isAway = true;
    await page.clock.runFor(200);
    await panel.getByRole("alert").getByText("Ask again in a moment.").waitFor();
    isAway = false;
    await page.clock.runFor(5100);
    await panel.getByRole("alert").waitFor({ state: "detached" });
    await latest();
    expect(asked).to.equal(before + 2);
    await slow.close();
    expect(slow.sins).to.deep.equal([]);
  });
});
