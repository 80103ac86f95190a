import { expect } from "chai";
import { greeting } from "../../src/cli/start.ts";
import { type CompleteConfig, readConfig } from "../../src/settings/config.ts";
import type { Mailbox } from "../../src/standalone/mailbox.ts";

const servers = { NATS_URL: "nats://nats.example:4222", MYSQL_URL: "mysql://user@mysql.example:3306/waybill" };

/** The line about mails in what a start says on a terminal. */
function lineAboutMails(env: Readonly<Record<string, string>>, mailbox: Mailbox | null): string | undefined {
  const config = readConfig({ ...servers, ...env }) as CompleteConfig;
  const lines = greeting({ url: "http://127.0.0.1:3000", healthUrl: null }, { config, mailbox });
  return lines.find((line) => /Mail(box|s) /.test(line));
}

describe("The greeting of a start", () => {
  it("says that mails really leave, and by which server, without its password", () => {
    const line = lineAboutMails({ SMTP_URL: "smtps://user:secret@mail.example.com:465" }, null);
    expect(line).to.equal("  Mails      really leave this machine, by smtps://mail.example.com:465 (SMTP_URL)");
  });

  it("says that the mailbox catches every mail", () => {
    // Only whether there is one counts.
    const line = lineAboutMails({}, {} as Mailbox);
    expect(line).to.include("http://127.0.0.1:3000/mailbox (catches every mail; none leaves this machine)");
  });

  it("says nothing of mails where the process sends none", () => {
    expect(lineAboutMails({ ROLES: "api" }, null)).to.equal(undefined);
  });
});
