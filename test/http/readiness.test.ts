import { expect } from "chai";
import { senderExaminer } from "../../src/roles/sender-examiner.ts";
import { readConfig } from "../../src/settings/config.ts";
import { startStandalone } from "../../src/standalone/standalone.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

type Answer = {
  readonly domain: string;
  readonly isReady: boolean;
  readonly findings: readonly { readonly part: string; readonly level: string; readonly advice: string | null }[];
};

describe("whether a domain is ready to send, as operators are told", () => {
  let dns: DnsServer;
  let api: RunningApi;

  before(async () => {
    dns = await startDnsServer({ "example.org": { TXT: ["v=spf1 mx -all"], MX: ["in.example.org"] } });
    const settings = { smtpUrl: null, mailReturnPath: null, dkim: null, publicUrl: null };
    api = await startApi({ examineSender: senderExaminer({ ...settings, dnsServers: [dns.address] }) });
  });
  after(async () => {
    await api.close();
    await dns.stop();
  });

  it("names what is missing, and what to do about it", async () => {
    const { status, body } = await api.ask("GET", "/api/admin/readiness/Example.org");
    expect(status).to.equal(200);
    const { domain, isReady, findings } = body as Answer;
    expect({ domain, isReady }).to.deep.equal({ domain: "example.org", isReady: false });
    const levelOf = (part: string) => findings.find((finding) => finding.part === part)?.level;
    expect(levelOf("dkim")).to.equal("warning");
    expect(levelOf("dmarc")).to.equal("serious");
    expect(findings.filter(({ level, advice }) => level === "serious" && advice === null)).to.deep.equal([]);
  });

  it("does not look at a mail server that only the workers are told of, as with Compose", async () => {
    const env = { ROLES: "api", NATS_URL: "127.0.0.1:1", MYSQL_URL: "mysql://127.0.0.1:1/waybill" };
    const { config } = await startStandalone(readConfig(env), () => {});
    const findings = await senderExaminer({ ...config, dnsServers: [dns.address] })("example.org");
    expect(findings.filter(({ part }) => part === "tls").map(({ level }) => level)).to.deep.equal(["warning"]);
    expect(JSON.stringify(findings)).not.to.include("invalid");
  });

  it("refuses what is no domain", async () => {
    const { status, body } = await api.ask("GET", "/api/admin/readiness/ada@example.org");
    expect(status).to.equal(400);
    expect(body).to.deep.include({ code: "validation-failed" });
  });
});
