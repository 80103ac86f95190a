import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { expect } from "chai";
import { createTransport } from "nodemailer";
import { signedFields } from "../../src/mail/dkim.ts";
import type { Letter, Mailer } from "../../src/mail/mailer.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { mailTo } from "./letters.ts";
import { startWireServer, type WireServer } from "./wire-server.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const dkim = { domain: "example.org", selector: "spring", privateKey, from: null };
const oneClick = {
  "List-Unsubscribe": "<https://example.org/u>",
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
};

const letters: Readonly<Record<string, Partial<Letter>>> = {
  "plain text": {},
  "HTML and text of other scripts": { html: "<p>Grüße</p>", text: "你好，世界。\r\n.\r\n", subject: "Grüße 🚀" },
  "white space that is not signed": { text: "one  \n\n two \t three\n\n\n\n", subject: "a   b " },
  "one-click unsubscribing": { headers: { ...oneClick, "X-Long": "word ".repeat(60) } },
  "an internationalised sender": { from: "Jörg <grüße@büro.example>", replyTo: "info@büro.example" },
};

describe("a mail signed with DKIM", () => {
  let server: WireServer;
  let mailer: Mailer;

  before(async () => {
    server = await startWireServer();
    mailer = createSmtpMailer({
      url: server.url,
      maxConnections: 1,
      timeoutMs: 5000,
      answerTimeoutMs: 5000,
      dkim: { keys: [dkim], fallback: dkim },
    });
  });

  after(async () => {
    await mailer.close();
    await server.stop();
  });

  const send = async (letter: Partial<Letter>, to = "ada@example.com"): Promise<string> => {
    expect((await mailer.send(mailTo(to, letter))).kind).to.equal("sent");
    return server.heard.messages.at(-1)?.toString("latin1") ?? "";
  };

  /** The same mail of the same moment, with the same boundary, composed and signed by nodemailer. */
  const sendWithNodemailer = async (letter: Partial<Letter>, ours: string): Promise<string> => {
    const { letter: full, to, messageId } = mailTo("ada@example.com", letter);
    const { html, text, replyTo, from, subject, headers } = full;
    const transport = createTransport({
      host: "127.0.0.1",
      port: server.port,
      dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey, headerFieldNames: signedFields },
    });
    const date = new Date(/^Date: (.*)\r$/m.exec(ours)?.[1] ?? "");
    transport.use("stream", ({ message }, done) => {
      message.date = date;
      done();
    });
    await transport.sendMail({
      from,
      subject,
      headers,
      to: { name: "", address: to },
      messageId,
      baseBoundary: /--_NmP-([0-9a-f]{16})-/.exec(ours)?.[1],
      ...(replyTo === null ? {} : { replyTo }),
      ...(html === null ? {} : { html }),
      ...(text === null ? {} : { text }),
    });
    return server.heard.messages.at(-1)?.toString("latin1") ?? "";
  };

  for (const [content, letter] of Object.entries(letters)) {
    it(`is byte for byte what nodemailer would have signed: ${content}`, async () => {
      const ours = await send(letter);
      expect(ours).to.match(/^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed;/);
      expect(await sendWithNodemailer(letter, ours)).to.equal(ours);
    });
  }

  it("has To, Message-ID, Date and both headers of unsubscribing among what is signed", async () => {
    const mail = await send({ headers: oneClick });
    const signed = tagOf(mail, "h").split(":");
    expect(signed).to.include.members(["from", "to", "subject", "date", "message-id", "content-type"]);
    expect(signed).to.include.members(["list-unsubscribe", "list-unsubscribe-post"]);
  });

  it("verifies with the public key, for each recipient, and no more once it was changed", async () => {
    const letter = mailTo("", { headers: oneClick }).letter;
    for (const to of ["ada@example.com", "grüße@example.com"]) {
      await mailer.send({ letter, to, messageId: "<one@example.org>" });
      const mail = server.heard.messages.at(-1)?.toString("latin1") ?? "";
      expect(isHeaderSigned(mail)).to.equal(true);
      expect(isHeaderSigned(mail.replace("\r\nTo: ", "\r\nTo: x"))).to.equal(false);
    }
  });

  it("verifies with a link of its own for each recipient, and no more once the link was changed", async () => {
    const letter = mailTo("", { isUnsubscribable: true }).letter;
    for (const name of ["ada", "bob"]) {
      const unsubscribeUrl = `https://example.org/unsubscribe/${name.repeat(40)}`;
      await mailer.send({ letter, to: `${name}@example.com`, messageId: "<one@example.org>", unsubscribeUrl });
      const mail = server.heard.messages.at(-1)?.toString("latin1") ?? "";
      expect(tagOf(mail, "h").split(":")).to.include.members(["list-unsubscribe", "list-unsubscribe-post"]);
      expect(isHeaderSigned(mail)).to.equal(true);
      expect(isHeaderSigned(mail.replace("org/unsubscribe", "org/other"))).to.equal(false);
      expect(isHeaderSigned(mail.replace("=One-Click", "=No"))).to.equal(false);
    }
  });

  it("is signed as it goes over the wire, where line ends are all alike", async () => {
    const mixed = await send({ text: "one\rtwo\nthree\r\n" });
    const plain = await send({ text: "one\r\ntwo\r\nthree\r\n" });
    expect(tagOf(mixed, "bh")).to.equal(tagOf(plain, "bh"));
  });
});

const signatureOf = (mail: string): string => /^DKIM-Signature: ((?:.|\r\n[ \t])*)/.exec(mail)?.[1] ?? "";

const tagOf = (mail: string, name: string): string =>
  (new RegExp(`(?:^|;)\\s*${name}=([^;]*)`).exec(signatureOf(mail))?.[1] ?? "").replace(/\s/g, "");

/** What RFC 6376 3.7 asks of a verifier about the header, for messages that have each field once. */
function isHeaderSigned(mail: string): boolean {
  const header = mail.slice(0, mail.indexOf("\r\n\r\n"));
  const lines = header.split(/\r\n(?![ \t])/);
  const relaxed = (line: string): string => {
    const colon = line.indexOf(":");
    const value = line
      .slice(colon + 1)
      .replace(/\r\n/g, "")
      .replace(/[ \t]+/g, " ")
      .trim();
    return `${line.slice(0, colon).toLowerCase()}:${value}`;
  };
  const signed = tagOf(mail, "h")
    .split(":")
    .map((name) => `${relaxed(lines.find((line) => line.toLowerCase().startsWith(`${name}:`)) ?? "")}\r\n`);
  const unsigned = relaxed(lines[0] ?? "").replace(/b=[^;]*$/, "b=");
  const data = Buffer.from(signed.join("") + unsigned, "latin1");
  return verify("sha256", data, createPublicKey(privateKey), Buffer.from(tagOf(mail, "b"), "base64"));
}
