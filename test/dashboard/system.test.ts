import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { readDashboard } from "../../src/dashboard/dashboard.ts";
import { createDatabase } from "../../src/database/database.ts";
import { alertsRef } from "../../src/event-log/event-log.ts";
import type { Probe } from "../../src/health/probe.ts";
import { senderExaminer } from "../../src/roles/sender-examiner.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { alertCleared, alertRaised, caused } from "../support/examples.ts";
import { tablesOf } from "../support/read-side.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("The page of the system", () => {
  let stage: DashboardStage;
  let endpointId: string;
  let watched: WatchedPage;

  before(async () => {
    stage = await dashboardStage();
    const jobId = await stage.api.ended(
      await stage.api.create({ subject: "Sealed", body: "x", recipients: ["ada@example.com"] }),
    );
    // What proves a job is under a seal.
    await (await fetch(`${stage.url}/api/jobs/${jobId.id}/evidence`)).text();
    const { body } = await stage.api.post("/api/webhook-endpoints", { url: "https://hooks.example.com/waybill" });
    endpointId = (body as { id: string }).id;
    watched = await openPage(`${stage.url}/#/system`);
  });
  after(async () => {
    // The jobs of other tests are nothing that it is told of.
    await stage.api.delete(`/api/webhook-endpoints/${endpointId}`);
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  it("shows what the service depends on, and what each part says of itself", async () => {
    const parts = watched.page.getByLabel("Dependencies", { exact: true });
    const nats = parts.getByRole("row", { name: "nats" });
    await nats.getByText("up", { exact: true }).waitFor();
    await nats.getByText(/^version: 2\./).waitFor();
    await nats.getByText(/^durability: .*2 minutes/).waitFor();
    await parts.getByRole("row", { name: "mail" }).getByText("breaker: closed").waitFor();
    await parts.getByRole("row", { name: "mysql" }).waitFor();
  });

  it("shows waiting jobs, the positions of read models, and the receivers of notifications", async () => {
    const { page } = watched;
    await page.getByLabel("Waiting jobs", { exact: true }).getByRole("row", { name: "high" }).waitFor();
    await page.getByLabel("Read models", { exact: true }).getByRole("row", { name: "notifications" }).waitFor();
    await page.getByRole("row", { name: "https://hooks.example.com/waybill" }).getByText("job.completed").waitFor();
  });

  it("shows operators the streams in NATS, their consumers, and how far each has read", async () => {
    const { page } = watched;
    const streams = page.getByLabel("Streams", { exact: true });
    await streams.getByRole("row", { name: /_JOBS [1-9]/ }).waitFor();
    await page
      .getByLabel("Consumers", { exact: true })
      .getByRole("row", { name: /^scheduler \S+_JOBS 0\b/ })
      .waitFor();
    await page
      .getByLabel("Workers", { exact: true })
      .getByRole("row", { name: "email.send" })
      .getByText("closed")
      .waitFor();
    await page.getByLabel("Keys", { exact: true }).getByRole("columnheader", { name: "Scopes" }).waitFor();
  });

  it("shows operators the mail routes, and what they have carried", async () => {
    const routes = watched.page.getByLabel("Mail routes", { exact: true });
    await routes.getByRole("row", { name: /^default usable all mails 1,000 1 – 0 0 [1-9]/ }).waitFor();
  });

  it("rebuilds a read model on request, after a confirmation", async () => {
    const { page } = watched;
    const db = createDatabase(stage.mysqlUrl);
    const rows = async () => (await tablesOf(db, jobsProjector))["recipients"];
    const right = await rows();
    expect(right).to.have.lengthOf.at.least(1);
    await db("recipients").delete();
    const jobs = page.getByLabel("Read models", { exact: true }).getByRole("row", { name: /^jobs \d/ });
    const dialog = page.getByRole("dialog");
    await jobs.getByRole("button", { name: "Rebuild" }).click();
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(await db("rebuild_requests").select()).to.deep.equal([]);
    await jobs.getByRole("button", { name: "Rebuild" }).click();
    expect(await watched.findBarriers()).to.deep.equal([]);
    await dialog.getByRole("button", { name: "Rebuild jobs" }).click();
    await page.getByText("The rebuild is requested.").waitFor();
    await jobs.getByText("old rows kept").waitFor({ timeout: 30_000 });
    await jobs.getByText("live", { exact: true }).waitFor();
    expect(await rows()).to.deep.equal(right);
    await db.destroy();
  });

  it("shows the last seal of the log, and the key to check it with", async () => {
    const seals = watched.page.getByLabel("Seals", { exact: true });
    const { body } = await stage.api.get("/api/seals?limit=1000");
    const { data } = body as { data: readonly { digest: string; publicKey: string }[] };
    await seals.getByText(data.at(-1)?.digest ?? "none").waitFor();
    await seals.getByText(data.at(-1)?.publicKey ?? "none").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });
});

const probes: readonly Probe[] = [
  { name: "nats", isNeeded: true, check: () => Promise.reject(new Error("away")) },
  { name: "mail", isNeeded: false, check: async () => ({ status: "down", breaker: "open" }) },
  {
    name: "mysql",
    isNeeded: false,
    check: async () => ({
      status: "degraded",
      stopped: [
        { projection: "jobs", atSequence: 1234, command: "waybill log show 1234" },
        { projection: "stats", atSequence: null },
      ],
    }),
  },
];

describe("A service in trouble, on the dashboard", () => {
  let api: RunningApi;
  let dns: DnsServer;
  let watched: WatchedPage;

  before(async () => {
    dns = await startDnsServer({ "example.org": { TXT: ["v=spf1 mx -all"], MX: ["in.example.org"] } });
    const sending = { smtpUrl: null, mailReturnPath: null, dkim: null, publicUrl: null, dnsServers: [dns.address] };
    const dashboard = await readDashboard({ hasMailbox: false, eventTypes: [] });
    api = await startApi({ dashboard, probes, examineSender: senderExaminer(sending) });
    await api.log.append(alertsRef, [caused("alert-1", alertRaised({ alert: "dead-letters" }))], 0);
    await api.log.append(alertsRef, [caused("alert-2", alertRaised({ alert: "failure-rate" }))], 1);
    await api.log.append(alertsRef, [caused("alert-3", alertCleared({ alert: "dead-letters", value: 4 }))], 2);
    watched = await openPage(`${api.url}/#/overview`);
  });
  after(async () => {
    await watched.close();
    await api.close();
    await dns.stop();
    expect(watched.sins).to.deep.equal([]);
  });

  it("says on the overview which alerts are raised, and keeps all of them on the system's page", async () => {
    const { page } = watched;
    // The current state is unknown, so the page shows the last known one.
    await page.getByText("Mails fail: 13 % of mails failed in the last 15 min; the limit is 5 %.").waitFor();
    await page.getByRole("link", { name: "Mails fail" }).click();
    const alerts = page.getByLabel("Alerts", { exact: true });
    await alerts.getByRole("listitem").first().waitFor();
    const told = await alerts.getByRole("listitem").locator("strong").allTextContents();
    expect(told).to.deep.equal(["AlertCleared", "AlertRaised", "AlertRaised"]);
    expect(await page.getByRole("alert").getByRole("link").allTextContents()).to.deep.equal(["Mails fail"]);
    await alerts.getByText("No longer: 4 jobs gave up in the last 15 min.").waitFor();
  });

  it("names the parts that are not ready", async () => {
    const { page } = watched;
    const parts = page.getByLabel("Dependencies", { exact: true });
    await parts.getByRole("row", { name: "nats" }).getByText("down").waitFor();
    await parts.getByRole("row", { name: "mail" }).getByText("breaker: open").waitFor();
    const stopped =
      "projection jobs, at sequence 1,234, command waybill log show 1234; projection stats, at sequence none";
    await parts.getByRole("row", { name: "mysql" }).getByText(`stopped: ${stopped}`).waitFor();
  });

  it("says what a domain lacks before it sends, and what to do", async () => {
    const ready = watched.page.getByLabel("Ready to send?", { exact: true });
    await ready.getByLabel("Domain of the sender").fill("example.org");
    await ready.getByRole("button", { name: "Examine" }).click();
    await ready.getByRole("row", { name: /^dmarc serious .*_dmarc\.example\.org/ }).waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });
});
