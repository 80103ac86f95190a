import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { expect } from "chai";
import { readConfig } from "../../src/settings/config.ts";

const usualHostname = os.hostname;

const nameOf = (env: Record<string, string>): string | null => readConfig(env).smtp.name;

/** From now on this host has that name. */
function nameHost(name: string): void {
  os.hostname = () => name;
  syncBuiltinESMExports();
}

describe("the settings of a connection to a mail server", () => {
  after(() => {
    os.hostname = usualHostname;
    syncBuiltinESMExports();
  });

  it("have no options behind the host, which would be left out without a word", () => {
    for (const url of ["smtp://a", "smtp://u:p@a:587/", "smtps://[::1]:465"]) {
      expect(readConfig({ SMTP_URL: url }).smtpUrl).to.equal(url);
    }
    for (const url of ["smtp://a/?requireTLS=true", "smtp://a:587?pool=true", "smtps://a/mail", "smtp://a#b"]) {
      expect(() => readConfig({ SMTP_URL: url }), url).to.throw("without a path or options");
    }
  });

  it("have patience with the answer to a whole mail, and less with each step before", () => {
    expect(readConfig({}).smtp).to.include({ timeoutMs: 20_000, answerTimeoutMs: 600_000 });
    const set = readConfig({ SMTP_TIMEOUT: "5000", SMTP_ANSWER_TIMEOUT: "300000" });
    expect(set.smtp).to.include({ timeoutMs: 5000, answerTimeoutMs: 300_000 });
  });

  it("name this host as it is called, if that is a full name", () => {
    nameHost("worker-1.example.net");
    expect(nameOf({ MAIL_FROM: "news@example.org" })).to.equal("worker-1.example.net");
    expect(nameOf({ SMTP_NAME: "mail.example.org" })).to.equal("mail.example.org");
  });

  it("name it by the domain of the sender otherwise, in ASCII", () => {
    for (const name of ["worker-1", "worker_1.example.net"]) {
      nameHost(name);
      expect(nameOf({ MAIL_FROM: "News <news@example.org>" })).to.equal("example.org");
      expect(nameOf({ MAIL_FROM: "news@büro.example" })).to.equal("xn--bro-hoa.example");
      expect(nameOf({ MAIL_FROM: "news@localhost" })).to.equal(null);
      expect(nameOf({})).to.equal(null);
      expect(nameOf({ SMTP_NAME: "mail" })).to.equal("mail");
    }
  });

  it("take no name that a mail server would not", () => {
    for (const value of [
      "mail_1.example.org",
      "büro.example",
      "mail.example.org:25",
      "mail example",
      "-mail",
      "a..b",
    ]) {
      const expected = `SMTP_NAME is ${JSON.stringify(value)}; expected the name of a host: mail.example.org`;
      expect(() => readConfig({ SMTP_NAME: value }), value).to.throw(expected);
    }
  });
});
