import { expect } from "chai";
import fc from "fast-check";
import { createTransport, type Transporter } from "nodemailer";
import { addressOf } from "../../src/domain/recipients/address.ts";
import type { Attachment, Letter, Mail, Mailer, PersonalParts } from "../../src/mail/mailer.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { mailTo } from "./letters.ts";
import { startWireServer, type WireServer } from "./wire-server.ts";

const line = (length: number): string => "abcdefghi ".repeat(Math.ceil(length / 10)).slice(0, length);

const letters: Readonly<Record<string, Partial<Letter>>> = {
  "plain ASCII": {},
  "an empty text": { text: "" },
  "neither text nor HTML": { text: null },
  "an empty subject": { subject: "" },
  "a subject of other scripts": { subject: "Grüße aus Köln — 你好, мир 🚀" },
  "a subject longer than a line": { subject: `${line(200)}end` },
  "a long subject of other scripts": { subject: "Привет, мир! ".repeat(20) },
  "a text that is best quoted-printable": { text: "Schöne Grüße, und = auch ein Gleichheitszeichen.\n" },
  "a text that is best base64": { text: "你好，世界。\n".repeat(30) },
  "lines longer than 76 and longer than 998": { text: `${line(90)}\n${line(1200)}\n` },
  "lines that begin with dots": { text: ".\n..\n.hidden\r\n.\r\n\r\n.a\n" },
  "line ends of every kind": { text: "one\ntwo\r\nthree\rfour\n\rfive\r\r\nsix\r" },
  "white space at the ends of lines": { text: "one  \ntwo\t\n\n\n   \nthree \n\n\n" },
  "HTML alone": { html: "<p>Grüße &amp; <b>dots</b>\n.\n</p>", text: null },
  "HTML and text": { html: `<p>${line(300)}</p>`, text: "Hällo\n.\nWorld\n" },
  "a sender of another script": { from: "Jörg Müller <joerg@example.org>", replyTo: "Büro, Köln <buero@example.org>" },
  "a sender with specials in quotes": { from: '"Lovelace, Ada (Countess)" <ada@example.org>' },
  "an internationalised sender": { from: "info@büro.example", replyTo: "grüße@büro.example" },
  "headers of its own": {
    headers: {
      "X-Campaign": "spring",
      "list-unsubscribe": "<https://example.org/u?a=1>, <mailto:u@example.org>",
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "X-Long": line(300),
      "X-Ünread": "no",
      "X-Text": "Grüße",
      "x-empty": "",
      Precedence: "bulk",
    },
  },
};

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
  "base64",
);
const attachment = (more: Partial<Attachment> = {}): Attachment => ({
  filename: "invoice.pdf",
  contentType: "application/pdf",
  contentId: null,
  bytes: Buffer.from(line(300)),
  ...more,
});
const logo = attachment({ filename: "logo.png", contentType: "image/png", contentId: "logo@example.org", bytes: png });

const withAttachments: Readonly<Record<string, Partial<Letter>>> = {
  "one attachment": { attachments: [attachment()] },
  "attachments of other names and types": {
    attachments: [
      attachment({
        filename: "Grüße aus Köln — 你好.txt",
        contentType: "text/plain; charset=utf-8",
        bytes: Buffer.from("Grüße\n"),
      }),
      attachment({ filename: 'a "b" (c)\\.bin', contentType: "application/octet-stream", bytes: Buffer.alloc(0) }),
      attachment({ filename: "a.eml", contentType: "message/rfc822", bytes: Buffer.from("Subject: x\r\n\r\ny\r\n") }),
    ],
  },
  "a large attachment": { attachments: [attachment({ bytes: Buffer.alloc(300_000, 7) })] },
  "a picture in the HTML": { html: '<p><img src="cid:logo@example.org"></p>', attachments: [logo] },
  "a picture, HTML alone": { html: '<p><img src="cid:logo@example.org"></p>', text: null, attachments: [logo] },
  "a picture and an attachment": { html: "<p>Hi</p>", attachments: [logo, attachment()] },
  "a picture that no HTML shows": { attachments: [logo] },
  "an attachment and nothing else": { text: null, attachments: [attachment()] },
};

const personalParts: Readonly<Record<string, PersonalParts>> = {
  "a text": { subject: "Hello Ada", html: null, text: "Hello Ada" },
  "an empty text": { subject: "Hello Ada", html: null, text: "" },
  "a text that is best quoted-printable": { subject: "Grüße", html: null, text: `Schöne Grüße, ${line(200)}.\n` },
  "a text that is best base64": { subject: "你好", html: null, text: "你好，世界。\n".repeat(30) },
  "HTML and text": { subject: "Hello Ada", html: `<p>Grüße ${line(100)}</p>\r`, text: "Hi\n.\n" },
  "HTML alone": { subject: `${line(200)}end`, html: "<p>Hello Ada</p>", text: null },
  "a long HTML": { subject: "Hello", html: `<p>${"Grüße und ".repeat(20_000)}</p>`, text: " \n" },
};

const recipients: readonly string[] = [
  "ada@example.com",
  `${"a".repeat(64)}@${"b".repeat(60)}.example.com`,
  "o'brien+list@example.com",
  "grüße@example.com",
  "info@büro.example",
  "用户@例子.example",
  "ADA@EXAMPLE.COM",
];

const names: readonly string[] = [
  "Ada Lovelace",
  "Lovelace, Ada (Countess)",
  "Jörg Müller",
  "白鵬 翔",
  'Ada "the Countess" \\ Lovelace',
  "ada@example.org",
  "Ada <ada@example.org>, Bob",
  "x".repeat(200),
  "Грета ".repeat(33).trim(),
];

/** What is of each composing by nature. */
const withoutAccidents = (message: Buffer): string =>
  message
    .toString("latin1")
    .replace(/^Date: .*$/m, "Date: then")
    .replace(/--_NmP-[0-9a-f]{16}-/g, "--_NmP-");

const sentByNodemailer = ({ letter: common, personal, to, name, messageId, unsubscribeUrl }: Mail) => ({
  ...toMessage({ ...common, ...personal }, to, messageId, unsubscribeUrl ? oneClickOf(unsubscribeUrl) : {}),
  to: { name: name ?? "", address: to },
});

const oneClickOf = (url: string) => ({
  "List-Unsubscribe": { prepared: true, value: `<${url}>` },
  "List-Unsubscribe-Post": { prepared: true, value: "List-Unsubscribe=One-Click" },
});

/** Of printable ASCII, nodemailer would encode quotes. */
const asItIs = ([name, value]: [string, string]) =>
  [name, /^[ -~]*$/.test(value) ? { prepared: true, foldLines: true, value } : value] as const;

/** nodemailer encodes the line ends of a text in base64 as they are. */
const canonical = (text: string): string => text.replace(/\r\n|\r|\n/g, "\r\n");

const toMessage = (letter: Letter, to: string, messageId: string, oneClick: object) => ({
  from: letter.from,
  to: { name: "", address: to },
  subject: letter.subject,
  messageId,
  headers: { ...Object.fromEntries(Object.entries(letter.headers).map(asItIs)), ...oneClick },
  envelope: { from: addressOf(letter.from), to },
  ...(letter.replyTo === null ? {} : { replyTo: letter.replyTo }),
  ...(letter.html === null ? {} : { html: canonical(letter.html) }),
  ...(letter.text === null ? {} : { text: canonical(letter.text) }),
  attachments: (letter.attachments ?? []).map(({ filename, contentType, contentId, bytes }) => ({
    filename,
    contentType,
    content: bytes,
    ...(contentId === null ? {} : { cid: contentId }),
  })),
});

describe("a mail composed once for all recipients", () => {
  let server: WireServer;
  let mailer: Mailer;
  let transport: Transporter;

  before(async () => {
    server = await startWireServer();
    mailer = createSmtpMailer({ url: server.url, maxConnections: 1, timeoutMs: 5000, answerTimeoutMs: 5000 });
    transport = createTransport({ host: "127.0.0.1", port: server.port, pool: true, maxConnections: 1 });
  });

  after(async () => {
    await mailer.close();
    transport.close();
    await server.stop();
  });

  const expectSame = async (mail: Mail): Promise<void> => {
    const said = server.heard.commands.length;
    const messages = server.heard.messages.length;
    expect((await mailer.send(mail)).kind).to.equal("sent");
    await transport.sendMail(sentByNodemailer(mail));
    const [ours, theirs] = server.heard.messages.slice(messages);
    expect(withoutAccidents(ours ?? Buffer.alloc(0))).to.equal(withoutAccidents(theirs ?? Buffer.alloc(0)));
    const envelope = server.heard.commands.slice(said).filter((command) => /^(MAIL|RCPT)/.test(command));
    expect(envelope).to.have.lengthOf(4);
    // nodemailer asks for SMTPUTF8 where the envelope needs it, and not where the header does.
    expect(new Set(envelope.map((command) => command.replace(/ SMTPUTF8$/, "")))).to.have.lengthOf(2);
  };

  for (const [content, letter] of Object.entries(letters)) {
    it(`goes over the wire as nodemailer sends it: ${content}`, () => expectSame(mailTo("ada@example.com", letter)));
  }

  for (const [content, letter] of Object.entries(withAttachments)) {
    it(`goes over the wire as nodemailer sends it: ${content}`, async () => {
      const mail = mailTo("ada@example.com", letter);
      await expectSame(mail);
      await expectSame({ ...mail, personal: { subject: "Hi", html: "<p>Grüße</p>", text: line(90) } });
    });
  }

  for (const [content, personal] of Object.entries(personalParts)) {
    it(`goes over the wire as nodemailer sends it: of one's own, ${content}`, async () => {
      const mail = mailTo("ada@example.com", { html: "<p>Hello {{ name }}</p>" });
      await expectSame({ ...mail, personal });
      await expectSame({ ...mail, letter: { ...mail.letter, html: null }, personal });
      await expectSame(mail);
    });
  }

  for (const url of ["https://example.org/u/1", `https://example.org/unsubscribe/${"x".repeat(120)}`]) {
    it(`goes over the wire as nodemailer sends it: with a link of ${url.length} characters of its own`, async () => {
      const mail = { ...mailTo("ada@example.com", { isUnsubscribable: true, html: "<p>Hi</p>" }), unsubscribeUrl: url };
      await expectSame(mail);
      await expectSame({ ...mail, letter: { ...mail.letter, headers: { "X-Campaign": "spring" }, html: null } });
      await expectSame({ ...mail, personal: { subject: "Hi", html: "<p>Grüße</p>", text: line(90) } });
    });
  }

  for (const to of recipients) {
    it(`goes over the wire as nodemailer sends it: to ${to}`, () => expectSame(mailTo(to)));
  }

  for (const name of names) {
    it(`goes over the wire as nodemailer sends it: to ${name.slice(0, 40)}`, async () => {
      await expectSame({ ...mailTo("ada@example.com"), name });
      await expectSame({ ...mailTo("info@büro.example"), name });
      const sent = server.heard.messages.at(-3)?.toString("latin1") ?? "";
      expect(sent.split("\r\n\r\n")[0]?.match(/^(?:To|Bcc|Cc):/gim)).to.deep.equal(["To:"]);
    });
  }

  it("goes over the wire as nodemailer sends it, whatever stands in it", async () => {
    const text = fc
      .array(
        fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(".", "\r", "\n", "\r\n", " ", "=", "--", line(80))),
      )
      .map((parts) => parts.join(""));
    const oneLine = text.map((value) => value.replace(/[\r\n]/g, " "));
    const anyLetter = fc.record({
      subject: oneLine,
      text: fc.option(text),
      html: fc.option(text),
      // Letters without headers share what nodemailer built for the first of them.
      headers: fc.option(
        oneLine.map((value) => ({ "X-Any": value })),
        { nil: {} },
      ),
      from: fc.string().map((name) => `"${name.replace(/["\\\r\n]/g, "")}" <any@example.org>`),
    });
    await fc.assert(
      fc.asyncProperty(anyLetter, async (letter) => {
        const { subject, html, text: plain, ...common } = letter;
        await expectSame(mailTo("ada@example.com", letter));
        await expectSame({
          ...mailTo("ada@example.com", common),
          personal: { subject: subject.trim() || "-", html, text: plain },
        });
      }),
      { numRuns: 150 },
    );
  });

  it("differs in To, Message-ID and Date alone from that to the next recipient", async () => {
    const { letter } = mailTo("", { html: "<p>Hello</p>" });
    const messages = server.heard.messages.length;
    await mailer.send({ letter, to: "ada@example.com", messageId: "<1@example.org>" });
    await mailer.send({ letter, to: "bob@example.com", messageId: "<2@example.org>" });
    const [one, other] = server.heard.messages.slice(messages).map((message) => message.toString().split("\r\n"));
    const own = one?.filter((content, index) => content !== other?.[index] && !content.startsWith("Date: "));
    expect(own).to.deep.equal(["To: ada@example.com", "Message-ID: <1@example.org>"]);
  });

  it("has boundaries that no mail of another letter has", async () => {
    const messages = server.heard.messages.length;
    for (const subject of ["One", "Other"])
      await mailer.send(mailTo("ada@example.com", { subject, html: "<p>Hi</p>" }));
    const boundaries = server.heard.messages.slice(messages).map((message) => {
      const text = message.toString();
      const [, declared = ""] = /^Content-Type: multipart\/alternative;\s+boundary="(.+)"\r$/m.exec(text) ?? [];
      expect(text.split(`--${declared}`)).to.have.lengthOf(4);
      return declared;
    });
    expect(new Set(boundaries)).to.have.lengthOf(2);
  });

  it("differs also in its link where it has one of its own", async () => {
    const { letter } = mailTo("", { html: "<p>Hello</p>", isUnsubscribable: true });
    const messages = server.heard.messages.length;
    const common = { letter, to: "ada@example.com", messageId: "<1@example.org>" };
    await mailer.send({ ...common, unsubscribeUrl: "https://example.org/u/1" });
    await mailer.send({ ...common, unsubscribeUrl: "https://example.org/u/2" });
    const [one, other] = server.heard.messages.slice(messages).map((message) => message.toString().split("\r\n"));
    const own = one?.filter((content, index) => content !== other?.[index] && !content.startsWith("Date: "));
    expect(own).to.deep.equal(["List-Unsubscribe: <https://example.org/u/1>"]);
  });

  it("takes its headers for their names, even where nodemailer would read a name and a value out of them", async () => {
    await mailer.send(mailTo("ada@example.com", { headers: { key: "Received", value: "by nobody" } }));
    const header = server.heard.messages.at(-1)?.toString() ?? "";
    expect(header)
      .to.match(/^Key: Received\r\nValue: by nobody\r\n/)
      .and.not.match(/^Received:/m);
  });
});
