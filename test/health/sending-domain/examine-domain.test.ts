import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import type { Finding } from "../../../src/health/finding.ts";
import { createDns } from "../../../src/health/sending-domain/dns.ts";
import { examineDomain, type Sending } from "../../../src/health/sending-domain/examine-domain.ts";
import { judgeAnswer } from "../../../src/health/sending-domain/examine-unsubscribe.ts";
import { unsubscribeInvalid } from "../../../src/http/routes/unsubscribe.ts";
import type { DkimKey } from "../../../src/mail/dkim.ts";
import { startWireServer } from "../../mail/wire-server.ts";
import { type DnsServer, startDnsServer, type Zone } from "../../support/dns-server.ts";
import { toRecord } from "../../support/verify-dkim.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
const ed25519 = generateKeyPairSync("ed25519");
const now = new Date("2026-11-23T12:00:00Z");

const keyOf = (selector: string, { privateKey }: typeof rsa, from: Date | null = null): DkimKey => ({
  domain: "example.org",
  selector,
  privateKey,
  from,
});

/** Everything is as receivers ask, but for what a test changes. */
const goodZone = (): Zone => ({
  "example.org": { TXT: ["other=text", "v=spf1 mx ~all"], MX: ["in.example.org"] },
  "in.example.org": { A: ["203.0.113.9"] },
  "b.example.org": { TXT: ["v=spf1 include:spf.relay.example -all"], MX: ["in.example.org"] },
  "spf.relay.example": { TXT: ["v=spf1 ip4:198.51.100.0/24 -all"] },
  "smtp.relay.example": { A: ["198.51.100.7"] },
  "7.100.51.198.in-addr.arpa": { PTR: ["smtp.relay.example"] },
  "r._domainkey.example.org": { TXT: [toRecord(rsa.publicKey)] },
  "e._domainkey.example.org": { TXT: [toRecord(ed25519.publicKey)] },
  "_dmarc.example.org": { TXT: ["v=DMARC1; p=quarantine; rua=mailto:d@example.org"] },
});

describe("a domain that is to send", () => {
  let server: DnsServer;
  before(async () => {
    server = await startDnsServer({});
  });
  beforeEach(() => {
    for (const name of Object.keys(server.zone)) delete server.zone[name];
    Object.assign(server.zone, goodZone());
    server.failing.clear();
  });
  after(() => server.stop());

  const keys = [keyOf("r", rsa), keyOf("e", ed25519)];
  const sending: Sending = {
    domain: "example.org",
    smtpUrl: null,
    returnPath: "bounces@b.example.org",
    dkim: { keys, fallback: null },
    publicUrl: null,
    unsubscribePath: "/unsubscribe",
    timeoutMs: 500,
  };
  /** No connection is opened to the mail server of this URL: its port is closed, and `tls` says so. */
  const relay = "smtp://smtp.relay.example:1";
  const examine = async (changed: Partial<Sending> = {}): Promise<readonly Finding[]> => {
    const dns = createDns({ servers: [server.address], timeoutMs: 500 });
    return examineDomain(dns, { ...sending, smtpUrl: relay, ...changed }, now);
  };
  const of = (findings: readonly Finding[], part: Finding["part"]): string[] =>
    findings
      .filter((finding) => finding.part === part)
      .map(({ level, what, advice }) => `${level}: ${what} -> ${advice}`);
  const look = async (part: Finding["part"], changed: Partial<Sending> = {}) =>
    of(await examine(changed), part).join("\n");

  it("is ready where all records are there", async () => {
    const findings = await examine();
    const levels = (part: Finding["part"]) => findings.filter((one) => one.part === part).map(({ level }) => level);
    expect(["spf", "dkim", "dmarc", "mx", "ptr"].map((part) => levels(part as Finding["part"]))).to.deep.equal([
      ["fine", "fine"],
      ["fine", "fine"],
      ["fine", "fine"],
      ["fine"],
      ["fine"],
    ]);
    expect(of(findings, "spf").join()).to.include("It covers smtp.relay.example of SMTP_URL (198.51.100.7)");
    expect(of(findings, "dkim").join()).to.match(/our RSA key of 2048 bits.*our Ed25519 key/);
    expect(of(findings, "bulk")[0]).to.match(/is not met: tls/);
  });

  it("has a mail server without TLS, by which no mail goes out where it is to hear a password", async () => {
    const { url, stop } = await startWireServer();
    expect(await look("tls", { smtpUrl: url })).to.match(/^warning: .* offers no TLS ->/);
    // Leads here, as 127.0.0.1 does, and does not say so.
    const elsewhere = url.replace("//127.0.0.1", "//waybill:s3cret@0.0.0.0");
    expect(await look("tls", { smtpUrl: elsewhere })).to.match(/^serious: .* offers no TLS, so no mail goes out/);
    await stop();
  });

  it("is not said to miss what DNS did not tell", async () => {
    for (const name of Object.keys(server.zone)) server.failing.add(name);
    const findings = await examine();
    for (const part of ["spf", "dkim", "dmarc", "mx"] as const) {
      expect(of(findings, part)[0], part).to.match(
        /^warning: Not known: DNS did not answer.*does not mean that it is missing/,
      );
    }
  });

  describe("with SPF", () => {
    const spf = (record: string[]) => {
      server.zone["b.example.org"] = { TXT: record };
      return look("spf");
    };

    it("is told the record to publish if it has none", async () => {
      expect(await spf([])).to.match(
        /^serious: .* has no SPF record -> Publish at b.example.org: TXT "v=spf1 a:smtp.relay/,
      );
    });
    it("has several records, a term that is none, or an include without a record", async () => {
      expect(await spf(["v=spf1 -all", "v=spf1 ~all"])).to.match(/^serious: .* has 2 SPF records/);
      expect(await spf(["v=spf1 ipv4:198.51.100.7 -all"])).to.match(/^serious: .*"ipv4:198.51.100.7" in the record/);
      expect(await spf(["v=spf1 include:nowhere.example -all"])).to.match(
        /^serious: .*nowhere.example, .* no SPF record/,
      );
    });
    it("needs more than ten lookups, nested ones and one that leads back to itself among them", async () => {
      const ten = Array.from({ length: 10 }, (_, index) => `a:a${index}.example`).join(" ");
      server.zone["ten.example"] = { TXT: [`v=spf1 ${ten} -all`] };
      expect(await spf(["v=spf1 include:ten.example -all"])).to.match(/^serious: .* needs 11 DNS lookups/);
      expect(await spf([`v=spf1 ${ten} -all`])).to.match(/^fine: .* with 10 of 10 DNS lookups/);
      expect(await spf(["v=spf1 include:b.example.org -all"])).to.match(/^serious: .* needs \d\d DNS lookups/);
    });
    it("does not cover the mail server, and is told the changed record", async () => {
      expect(await spf(["v=spf1 ip4:203.0.113.0/24 ~all"])).to.match(
        /warning: It does not cover .*198.51.100.7: softfail.*TXT "v=spf1 a:smtp.relay.example ip4:203.0.113.0\/24 ~all"/,
      );
      expect(await spf(["v=spf1 -ip4:198.51.100.7 +all"])).to.match(/198.51.100.7: fail/);
    });
    it("covers it by a, mx and redirect", async () => {
      server.zone["out.example"] = { MX: ["smtp.relay.example"], TXT: ["v=spf1 mx -all"] };
      for (const terms of [
        "a:smtp.relay.example -all",
        "mx:out.example -all",
        "redirect=out.example",
        "a:in.example.org/8 a:smtp.relay.example/24 -all",
      ]) {
        expect(await spf([`v=spf1 ${terms}`]), terms).to.match(/fine: It covers/);
      }
    });
  });

  describe("with DKIM", () => {
    const dkim = (record: string[], key = keyOf("r", rsa)) => {
      server.zone["r._domainkey.example.org"] = { TXT: record };
      return look("dkim", { dkim: { keys: [key], fallback: null } });
    };

    it("is told the record to publish where the key is missing, revoked or another one", async () => {
      const publish = `Publish at r._domainkey.example.org: TXT "${toRecord(rsa.publicKey)}".`;
      for (const [record, words] of [
        [[], "has no key"],
        [["v=DKIM1; p="], "is revoked"],
        [[toRecord(short.publicKey)], "is not the one"],
        [["hello"], "is no DKIM key"],
      ] as const) {
        const found = await dkim([...record]);
        expect(found)
          .to.match(/^serious/)
          .and.include(words)
          .and.include(publish);
      }
    });
    it("is warned of a short key, of t=y, and of one that is to sign later", async () => {
      expect(await dkim([toRecord(short.publicKey)], keyOf("r", short))).to.match(/^warning: .* has 1024 bits/);
      expect(await dkim([`${toRecord(rsa.publicKey)}; t=y`])).to.match(/warning: .* says t=y/);
      const later = keyOf("r", rsa, new Date("2027-01-01T00:00:00Z"));
      expect(await dkim([], later)).to.match(/warning: .* has no key \(it signs from 2027-01-01T00:00:00.000Z\)/);
    });
  });

  describe("with DMARC", () => {
    it("is told the record to publish if it has none, or one that is not valid", async () => {
      delete server.zone["_dmarc.example.org"];
      expect(await look("dmarc")).to.match(
        /^serious: .* no DMARC record -> Publish at _dmarc.example.org: TXT "v=DMARC1; p=none/,
      );
      server.zone["_dmarc.example.org"] = { TXT: ["v=DMARC1; p=perhaps"] };
      expect(await look("dmarc")).to.match(/^serious: .* is not valid/);
    });
    it("takes the record of the organization, with its policy for domains below", async () => {
      server.zone["_dmarc.example.org"] = { TXT: ["v=DMARC1; p=none; sp=reject"] };
      expect(await look("dmarc", { domain: "news.example.org" })).to.match(
        /fine: _dmarc.example.org .* the policy is reject/,
      );
    });
    it("is aligned with the return path and the key, unless they are elsewhere or the record is strict", async () => {
      expect(await look("dmarc", { returnPath: "b@relay.example" })).to.match(
        /warning: .* with DKIM, not with the return path/,
      );
      expect(await look("dmarc", { dkim: null })).to.match(/warning: .* not with a DKIM key/);
      expect(await look("dmarc", { dkim: null, returnPath: "b@relay.example" })).to.match(
        /serious: .* aligned with neither/,
      );
      server.zone["_dmarc.example.org"] = { TXT: ["v=DMARC1; p=none; aspf=s"] };
      expect(await look("dmarc")).to.match(/warning: .* not with the return path/);
    });
  });

  it("has a return path that takes mails, and addresses that have names", async () => {
    server.zone["b.example.org"] = {};
    expect(await look("mx")).to.match(/^serious: b.example.org has no MX record/);
    server.zone["b.example.org"] = { MX: ["nowhere.example"] };
    expect(await look("mx")).to.match(/^serious: No MX host of b.example.org has an address/);
    server.zone["7.100.51.198.in-addr.arpa"] = { PTR: ["in.example.org"] };
    expect(await look("ptr")).to.match(/^warning: 198.51.100.7 is in.example.org, which does not lead back/);
    delete server.zone["7.100.51.198.in-addr.arpa"];
    expect(await look("ptr")).to.match(/^warning: .* has no PTR record/);
    expect(await look("ptr", { smtpUrl: "smtp://127.0.0.1:1" })).to.match(/^warning: Not known: from which/);
  });

  it("is not judged by a mail server that the process was not told of", async () => {
    const told = await look("tls", { smtpUrl: null });
    expect(told).to.match(/^warning: Not known: SMTP_URL is not set .* -> .*waybill doctor --domain example\.org$/);
    expect(of(await examine({ smtpUrl: null }), "spf").join("\n")).not.to.include("localhost");
  });

  it("has links to unsubscribe over HTTPS only", async () => {
    expect(await look("link")).to.match(/^warning: PUBLIC_URL is not set/);
    expect(await look("link", { publicUrl: "http://127.0.0.1:1" })).to.match(/^serious: .* is not https/);
    expect(await look("link", { publicUrl: "https://127.0.0.1:1" })).to.match(/^serious: .* does not answer/);
  });

  it("has links to unsubscribe where the answer is that of Waybill, and not of any server", async () => {
    const url = "https://mail.example.org/unsubscribe";
    const { status, headers } = unsubscribeInvalid();
    expect(judgeAnswer(url, status, headers?.["X-Robots-Tag"] ?? null).level).to.equal("fine");
    expect(judgeAnswer(url, 404, null)).to.deep.include({ level: "warning", part: "link" });
    expect(judgeAnswer(url, 200, null).level).to.equal("warning");
    expect(judgeAnswer(url, 502, null).level).to.equal("serious");
  });
});
