import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const settings = {
  ALERT_INTERVAL: "200",
  ALERT_LEAST_MAILS: "2",
  // Of each hour more are allowed than are left open.
  ALERT_DEAD_LETTERS: "100",
  ALERT_OPEN_DEAD_LETTERS: "2",
  ALERT_OLDEST_WAITING: "1000",
};
const refused = ["refused-1@example.com", "refused-2@example.com"];

describe("An alert on the dashboard", () => {
  let stage: Stage;
  let waybill: Waybill;
  let api: ApiClient;
  let watched: WatchedPage;

  before(async () => {
    stage = await setStage();
    for (const address of refused) stage.mailServer.answerRecipient(address, { code: 554, text: "5.7.1 not today" });
    await start({ ALERT_FAILURE_RATE: "off" });
  });
  after(async () => {
    await watched?.close();
    await waybill?.stop();
    await stage?.cleanUp();
    expect(watched.sins).to.deep.equal([]);
  });

  const start = async (env: Readonly<Record<string, string>>): Promise<void> => {
    waybill = await startWaybill(stage.surroundings, { ...settings, ...env });
    api = createApiClient(waybill.url);
  };
  const send = async (recipients: readonly string[]): Promise<void> => {
    await api.ended(await api.create({ subject: "Alerting", body: "x", recipients }));
  };
  const alert = (title: string) => watched.page.getByRole("alert").filter({ hasText: title });
  const expectTheSame = (title: string, tile: string, figure: RegExp): Promise<void> =>
    eventually(async () => {
      const [said] = figure.exec((await alert(title).textContent()) ?? "") ?? [];
      const shown = await watched.page
        .locator("dl.tiles > div", { hasText: new RegExp(`^${tile}`) })
        .locator("dd")
        .textContent();
      expect(said).to.match(/./);
      expect(shown).to.include(said);
    }, 30_000);

  it("is a sentence with the figure that the tile shows, also when that has changed since", async () => {
    await send([...refused, "ada@example.com", "bob@example.com"]);
    // Looking earlier, it may find the mails of their receiver counted, and not yet those of all receivers.
    await eventually(async () => {
      const { failureRate } = (await api.get("/api/admin/jobs/stats")).body as {
        readonly failureRate: { readonly mails: number | null };
      };
      expect(failureRate.mails).to.equal(0.5);
    }, 30_000);
    await waybill.stop();
    await start({});
    watched = await openPage(`${waybill.url}/#/overview`);
    // An alert is raised at the second look, and the page asks for alerts every ten seconds.
    watched.page.setDefaultTimeout(40_000);
    await alert("Mails fail").getByText("50 % of mails failed in the last hour; the limit is 5 %.").waitFor();
    await expectTheSame("Mails fail", "Failed mails", /\d+ %/);
    await send(Array.from({ length: 16 }, (_, index) => `fine-${index}@example.com`));
    await alert("Mails fail").getByText("10 % of mails failed in the last hour; the limit is 5 %.").waitFor();
    await expectTheSame("Mails fail", "Failed mails", /\d+ %/);
  });

  it("tells of jobs that wait in minutes and seconds", async () => {
    const groupKey = "one after the other";
    stage.mailServer.hold();
    for (const subject of ["First of a group", "Second of a group"]) {
      await api.create({ subject, body: "x", recipients: ["ada@example.com"], groupKey, priority: "low" });
    }
    await alert("Jobs wait")
      .getByText(/The oldest low-priority job has waited (\d+ min )?\d+ s; the limit is 1 s\./)
      .waitFor();
    await expectTheSame("Jobs wait", "Oldest waiting", /(\d+ min )?\d+ s/);
    stage.mailServer.release();
  });

  it("alerts about undecided dead letters, however slowly they came", async () => {
    for (let count = 0; count < 3; count++) await send(refused);
    await alert("Dead letters are open").getByText("3 dead letters wait for a decision; the limit is 2.").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });
});
