import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { readMessage } from "../../src/feedback/reports/read-message.ts";

const folder = new URL("samples/", import.meta.url);

/** Of a bounce its kind, status and reply code; of a complaint its type; else why nothing follows. */
type Expected = readonly [string, string | null, number | null] | readonly ["complaint", string] | string;

const expected: Readonly<Record<string, Expected>> = JSON.parse(readFileSync(new URL("expected.json", folder), "utf8"));
const sampleOf = (name: string): Buffer => readFileSync(new URL(`${name}.eml`, folder));

async function readingOf(raw: Buffer): Promise<Expected> {
  const reading = await readMessage(raw, []);
  if (reading.kind === "nothing") return reading.why;
  const { feedback } = reading.report;
  if (feedback.kind === "complaint") return ["complaint", feedback.complaint];
  return [feedback.bounce, feedback.statusCode, feedback.replyCode];
}

describe("A mail that came back", () => {
  for (const [name, reading] of Object.entries(expected)) {
    it(`is read: ${name}`, async () => {
      expect(await readingOf(sampleOf(name))).to.deep.equal(reading);
    });
  }

  it("has a sample for each expectation, and the other way round", () => {
    const files = readdirSync(folder).filter((file) => file.endsWith(".eml"));
    expect(files.map((file) => file.replace(".eml", "")).sort()).to.deep.equal(Object.keys(expected).sort());
    expect(files.length).to.be.at.least(60);
  });

  it("names the mail by its return path and its Message-ID, where it has them", async () => {
    for (const name of [
      "postfix-user-unknown",
      "exim-dsn-user-unknown",
      "arf-abuse",
      "jmrp-enclosed",
      "jmrp-in-mixed",
      "qmail-no-mailbox",
      "envelope-id",
    ]) {
      const reading = await readMessage(sampleOf(name), ["bounces@b.example.org"]);
      const names = reading.kind === "report" ? reading.report.names : [];
      expect(names[0], name).to.equal("bounces@b.example.org");
      expect(names.slice(1).join(" "), name).to.match(/\+token@b\.example\.org/);
    }
  });

  for (const status of ["5.1.7", "5.1.8", "4.1.8"]) {
    it(`says nothing about the address where its sender was refused: ${status}`, async () => {
      const refused = sampleOf("postfix-user-unknown").toString("latin1").replaceAll("5.1.1", status);
      expect(await readingOf(Buffer.from(refused, "latin1"))).to.deep.equal(["unknown", status, 550]);
    });
  }

  const plain = (from: string, subject: string, text: string): Buffer =>
    Buffer.from(`From: ${from}\r\nTo: bounces+token@b.example.org\r\nSubject: ${subject}\r\n\r\n${text}\r\n`);

  for (const subject of [
    "Automatische Antwort: Ihr Paket konnte nicht zugestellt werden",
    "Re: Your payment was rejected",
  ]) {
    it(`is none where an answer has the subject of the mail, whatever that speaks of: ${subject}`, async () => {
      const answer = plain("ada@example.net", subject, "I am away until Monday. Call +49 431 1234567, or 450 5551234.");
      expect(await readingOf(answer)).to.equal("not-a-report");
    });
  }

  it("is no delay because the subject of the mail speaks of one", async () => {
    const returned = plain("postmaster@example.net", "Undeliverable: Your train is delayed", "550 5.1.1 User unknown");
    expect(await readingOf(returned)).to.deep.equal(["hard", "5.1.1", 550]);
  });

  it("names a return path whose token begins with two digits as it is written", async () => {
    const returned = sampleOf("postfix-user-unknown").toString("latin1").replaceAll("+token@", "+19token@");
    const reading = await readMessage(Buffer.from(returned, "latin1"), []);
    const names = reading.kind === "report" ? reading.report.names.filter((name) => name.includes("token@b.")) : [];
    expect(names).not.to.have.length(0);
    for (const name of names) expect(name).to.include("+19token@b.example.org");
  });
});

const daemon = "From: MAILER-DAEMON@x.example\r\nSubject: failure notice\r\nMIME-Version: 1.0\r\n";
const long = (text: string, length = 600_000): string => text.repeat(Math.ceil(length / text.length));
const part = (header: string, body: string): string => `--b\r\n${header}\r\n\r\n${body}\r\n`;
const mixed = `${daemon}Content-Type: multipart/mixed; boundary=b\r\n\r\n`;
const levels = (depth: number, more: string): string =>
  Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n${more}`,
  ).join("");

/** Each has made some parser slow: all that is not linear in the length of the mail, and much of what is. */
const bombs: Readonly<Record<string, string>> = {
  "nested 500 deep": daemon + levels(500, ""),
  "mails in mails, 500 deep": daemon + long("Content-Type: message/rfc822\r\n\r\n", 34 * 500),
  "mails in parts in mails, 500 deep": daemon + levels(500, "Content-Type: message/rfc822\r\n\r\n"),
  "empty parts": mixed + long("--b\r\n\r\n"),
  "thousands of status reports": mixed + long(part("Content-Type: message/delivery-status", "Action: failed\r\n")),
  "thousands of enclosed mails": mixed + long(part("Content-Type: message/rfc822", "Return-Path: <a@x.example>\r\n")),
  "thousands of parts in base64": mixed + long(part("Content-Transfer-Encoding: base64", "QUFB")),
  "a part in base64": `${daemon}Content-Transfer-Encoding: base64\r\n\r\n${long("QUFBQUFBQUFBQUFB\r\n")}`,
  "a part in quoted-printable": `${daemon}Content-Transfer-Encoding: quoted-printable\r\n\r\n${long("=41=42=\r\n")}`,
  "empty lines": `${daemon}\r\n${long("\n")}`,
  "HTML of spaces": `${mixed}${part("Content-Type: text/plain", "x")}${part("Content-Type: text/html", long("\n "))}`,
  "HTML of open tags": `${daemon}Content-Type: text/html\r\n\r\n${long("<br")}`,
  "HTML of brackets": `${daemon}Content-Type: text/html\r\n\r\n${long("<")}`,
  "groups of addresses": `${daemon}To: ${long("a:b,c;", 40_000)}\r\n\r\nx`,
  "an open comment": `${daemon}To: ${long("(", 40_000)}\r\n\r\nx`,
  "encoded words": `From: ${long("=?utf-8?B?QQ==?= ", 40_000)}\r\n\r\nx`,
  "a header without end": `${daemon}${long("X-A: b\r\n")}\r\nx`,
  "a parameter in pieces": `${daemon}Content-Type: multipart/mixed; ${long("a*0=x; ", 40_000)}\r\n\r\nx`,
  "blocks of a status report": `${daemon}Content-Type: message/delivery-status\r\n\r\n${long("Action: failed\r\nErrors-To: a@x.example\r\n\r\n")}`,
  "quoted headers": `${daemon}\r\n${long("Message-ID: <a@x.example>\r\n")}`,
  "a line of dashes": `${daemon}\r\n${long("-")}`,
  "a line that almost tells": `${daemon}\r\n550 ${long("no such ")}`,
};

describe("A mail that is made to harm", () => {
  /** Of CPU. Each takes a fifth of this, or less, where the machine has nothing else to do. */
  const fewSeconds = 2;
  const secondsOf = async (raw: Buffer): Promise<number> => {
    const begun = process.cpuUsage();
    await readMessage(raw, ["bounces+x@b.example.org"]);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1e6;
  };
  const nested = (depth: number): Buffer => {
    const head = Array.from(
      { length: depth },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
    );
    return Buffer.from(`From: a@example.org\r\nMIME-Version: 1.0\r\n${head.join("")}\r\nx`);
  };

  it("costs little, however it is nested, long, or full of parts", async () => {
    const parts = `From: a@example.org\r\nContent-Type: multipart/report; boundary=b\r\n\r\n${"--b\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n\r\n".repeat(50_000)}`;
    const header = `From: a@example.org\r\n${"X-A: b\r\n".repeat(500_000)}\r\nx`;
    const folded = `From: a@example.org\r\nSubject: x\r\n${" y\r\n".repeat(1_000_000)}\r\nx`;
    const long = Buffer.concat([
      Buffer.from("From: MAILER-DAEMON@x.example\r\nSubject: failure notice\r\n\r\n"),
      Buffer.alloc(25_000_000, "550 "),
    ]);
    for (const raw of [nested(5000), Buffer.from(parts), Buffer.from(header), Buffer.from(folded), long]) {
      expect(await secondsOf(raw)).to.be.lessThan(fewSeconds);
    }
  });

  for (const [what, raw] of Object.entries(bombs)) {
    it(`costs little: ${what}`, async () => {
      expect(await secondsOf(Buffer.from(raw, "latin1"))).to.be.lessThan(fewSeconds);
    });
  }

  it("names no more places than a report has, whatever it encloses", async () => {
    const part = `--b\r\nContent-Type: message/rfc822\r\n\r\nReturn-Path: <${"a2".repeat(22)}a@x.example>\r\n\r\n`;
    const raw = `${daemon}Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n\r\n${part.repeat(50)}`;
    const reading = await readMessage(Buffer.from(raw), []);
    expect(reading.kind === "report" ? reading.report.names.length : 0).to.be.within(1, 10);
  });

  it("is no report where it is no mail at all", async () => {
    for (const raw of [Buffer.alloc(0), Buffer.alloc(100_000), Buffer.from("\r\n\r\n"), nested(50)]) {
      expect(await readMessage(raw, [])).to.deep.equal({ kind: "nothing", why: "not-a-report" });
    }
  });
});
