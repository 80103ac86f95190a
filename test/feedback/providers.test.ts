import { expect } from "chai";
import { readPostmark } from "../../src/feedback/reports/postmark.ts";
import type { Reading } from "../../src/feedback/reports/report.ts";
import { readSendgrid } from "../../src/feedback/reports/sendgrid.ts";
import { confirmationOf, readSes } from "../../src/feedback/reports/ses.ts";
import { startApi } from "../support/running-api.ts";

/** Of a bounce its kind, status and reply code; of a complaint its type; else why nothing follows. */
function inShort(reading: Reading | undefined): unknown {
  if (reading === undefined) return "no reading";
  if (reading.kind === "nothing") return reading.why;
  const { feedback } = reading.report;
  if (feedback.kind === "complaint") return ["complaint", feedback.complaint];
  return [feedback.bounce, feedback.statusCode, feedback.replyCode];
}
const namesIn = (reading: Reading | undefined): readonly string[] =>
  reading?.kind === "report" ? reading.report.names : [];

const returnPath = "bounces+token@b.example.org";

/** In the form that its guide documents for notifications of an identity. */
const sesMail = {
  timestamp: "2026-11-20T14:59:38.237Z",
  messageId: "00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa0680-000000",
  source: returnPath,
  sourceArn: "arn:aws:ses:us-east-1:888888888888:identity/example.org",
  sourceIp: "127.0.3.0",
  sendingAccountId: "123456789012",
  callerIdentity: "IAM_user_or_role_name",
  destination: ["ada@example.com"],
  headersTruncated: false,
  headers: [
    { name: "From", value: '"News" <news@example.org>' },
    { name: "Message-ID", value: "<token@example.org>" },
  ],
  commonHeaders: { from: ["News <news@example.org>"], to: ["ada@example.com"], messageId: "<token@example.org>" },
};
const sesBounce = (bounce: object) => ({
  notificationType: "Bounce",
  bounce: {
    feedbackId: "00000138111222aa-44455566-cccc-cccc-cccc-ddddaaaa068a-000000",
    timestamp: "2026-11-20T14:59:38.605Z",
    remoteMtaIp: "127.0.2.0",
    reportingMTA: "dns; email.example.com",
    ...bounce,
  },
  mail: sesMail,
});
const sesComplaint = (complaint: object) => ({
  notificationType: "Complaint",
  complaint: {
    userAgent: "AnyCompany Feedback Loop (V0.01)",
    complainedRecipients: [{ emailAddress: "ada@example.com" }],
    arrivalDate: "2026-11-20T14:59:38.237Z",
    timestamp: "2026-11-20T14:59:38.613Z",
    feedbackId: "000001378603177f-18c07c78-fa81-4a58-9dd1-fedc3cb8f49a-000000",
    ...complaint,
  },
  mail: sesMail,
});
const refused = {
  emailAddress: "ada@example.com",
  status: "5.1.1",
  action: "failed",
  diagnosticCode: "smtp; 550 5.1.1 <ada@example.com>... User unknown",
};

const ses: readonly (readonly [string, object, unknown])[] = [
  [
    "a permanent bounce with the answer of the mail server",
    sesBounce({ bounceType: "Permanent", bounceSubType: "General", bouncedRecipients: [refused] }),
    ["hard", "5.1.1", 550],
  ],
  [
    "a permanent bounce without a status notification",
    sesBounce({
      bounceType: "Permanent",
      bounceSubType: "General",
      bouncedRecipients: [{ emailAddress: "ada@example.com" }],
    }),
    ["hard", null, null],
  ],
  [
    "an address on the suppression list of the account",
    sesBounce({
      bounceType: "Permanent",
      bounceSubType: "OnAccountSuppressionList",
      bouncedRecipients: [{ emailAddress: "ada@example.com", action: "failed", status: "5.1.1" }],
    }),
    ["hard", "5.1.1", null],
  ],
  [
    "a full mailbox",
    sesBounce({
      bounceType: "Transient",
      bounceSubType: "MailboxFull",
      bouncedRecipients: [{ ...refused, status: "5.2.2", diagnosticCode: "smtp; 552 5.2.2 over quota" }],
    }),
    ["soft", "5.2.2", 552],
  ],
  [
    "an automatic reply, as the simulator of SES sends it",
    sesBounce({
      bounceType: "Transient",
      bounceSubType: "General",
      bouncedRecipients: [{ emailAddress: "ada@example.com" }],
    }),
    "auto-reply",
  ],
  [
    "an automatic reply, as it comes from mail servers",
    sesBounce({ bounceType: "Undetermined", bounceSubType: "Undetermined", bouncedRecipients: [] }),
    "auto-reply",
  ],
  [
    "a bounce for now, with the answer of the mail server",
    sesBounce({
      bounceType: "Transient",
      bounceSubType: "General",
      bouncedRecipients: [{ ...refused, status: "4.4.7", diagnosticCode: "smtp; 421 4.4.7 expired" }],
    }),
    ["soft", "4.4.7", 421],
  ],
  [
    "a mail that was refused because of the address of SES that it came from",
    sesBounce({
      bounceType: "Transient",
      bounceSubType: "General",
      bouncedRecipients: [
        { ...refused, status: "5.7.1", diagnosticCode: "smtp; 550 5.7.1 Client host blocked using Spamhaus" },
      ],
    }),
    ["unknown", "5.7.1", 550],
  ],
  [
    "a mail whose content was refused",
    sesBounce({ bounceType: "Transient", bounceSubType: "ContentRejected", bouncedRecipients: [{}] }),
    ["unknown", null, null],
  ],
  [
    "a bounce of a kind that it could not tell",
    sesBounce({ bounceType: "Undetermined", bounceSubType: "Undetermined", bouncedRecipients: [{}] }),
    ["unknown", null, null],
  ],
  ["a complaint with a report", sesComplaint({ complaintFeedbackType: "abuse" }), ["complaint", "abuse"]],
  ["a complaint without one", sesComplaint({ complaintSubType: null }), ["complaint", "other"]],
  ["a mail that its recipient called wanted", sesComplaint({ complaintFeedbackType: "not-spam" }), "not-a-report"],
  [
    "an event of a configuration set",
    {
      ...sesBounce({ bounceType: "Permanent", bounceSubType: "NoEmail", bouncedRecipients: [refused] }),
      eventType: "Bounce",
      notificationType: undefined,
    },
    ["hard", "5.1.1", 550],
  ],
  [
    "a mail that it took and then did not send, as there was malware in it",
    { eventType: "Reject", reject: { reason: "Bad content" }, mail: sesMail },
    ["unknown", null, null],
  ],
  ["a delivery", { notificationType: "Delivery", delivery: { smtpResponse: "250 ok" }, mail: sesMail }, "delivered"],
  ["a delay", { eventType: "DeliveryDelay", deliveryDelay: { delayType: "MailboxFull" }, mail: sesMail }, "delayed"],
];

describe("A notification of Amazon SES", () => {
  for (const [what, message, expected] of ses) {
    it(`tells of ${what}, in an envelope of SNS and without one`, () => {
      const envelope = {
        Type: "Notification",
        MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
        TopicArn: "arn:aws:sns:us-east-1:123456789012:ses",
        Message: JSON.stringify(message),
        Timestamp: "2026-11-20T15:00:00.000Z",
        SignatureVersion: "1",
        Signature: "EXAMPLE",
        SigningCertURL: "https://sns.us-east-1.amazonaws.com/cert.pem",
        UnsubscribeURL: "https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe",
      };
      for (const body of [envelope, JSON.parse(JSON.stringify(message))]) {
        const [reading, ...more] = readSes(body) ?? [];
        expect(more).to.deep.equal([]);
        expect(inShort(reading)).to.deep.equal(expected);
        if (reading?.kind === "report")
          expect(namesIn(reading).slice(0, 2)).to.deep.equal([returnPath, "<token@example.org>"]);
      }
    });
  }

  it("is no notification where it is anything else", () => {
    for (const body of [null, [], {}, { Type: "Notification", Message: "{" }, { Type: "Notification" }, "text"]) {
      expect(readSes(body)).to.equal(null);
    }
  });

  it("is none where its message is longer, or nested deeper, than any of SNS", () => {
    const message = sesBounce({ bounceType: "Permanent", bouncedRecipients: [{ status: "5.1.1" }] });
    const enclosed = (fields: object) => ({ Type: "Notification", Message: JSON.stringify({ ...message, ...fields }) });
    const deep = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    expect(readSes(enclosed({ more: "x".repeat(200_000), deep: deep(20) }))).to.have.length(1);
    expect(readSes(enclosed({ more: "x".repeat(1024 * 1024) }))).to.equal(null);
    expect(readSes(enclosed({ deep: deep(1000) }))).to.equal(null);
  });

  it("leaves out what is no status code and no feedback type, which the log would refuse or keep for ever", () => {
    const bounce = sesBounce({ bounceType: "Permanent", bouncedRecipients: [{ status: "5.1.1 ada@example.com" }] });
    expect(inShort(readSes(bounce)?.[0])).to.deep.equal(["hard", null, null]);
    const complaint = sesComplaint({ complaintFeedbackType: "ada@example.com said so" });
    expect(inShort(readSes(complaint)?.[0])).to.deep.equal(["complaint", "other"]);
  });

  it("asks for a confirmation at an address of SNS alone", () => {
    const asking = (SubscribeURL: string) =>
      confirmationOf({ Type: "SubscriptionConfirmation", Token: "t", SubscribeURL });
    const url = "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=t";
    expect(asking(url)).to.equal(url);
    expect(asking("https://sns.us-west-2.amazonaws.com.evil.example/")).to.equal(null);
    expect(asking("http://sns.us-west-2.amazonaws.com/")).to.equal(null);
    expect(asking("https://evil.example/sns.us-west-2.amazonaws.com")).to.equal(null);
  });
});

/** In the form that its guide documents. */
const postmarkBounce = (fields: object) => ({
  RecordType: "Bounce",
  MessageStream: "outbound",
  ID: 4323372036854775,
  Type: "HardBounce",
  TypeCode: 1,
  Name: "Hard bounce",
  Tag: "Test",
  MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
  Metadata: { waybill: "token" },
  ServerID: 23,
  Description: "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
  Details: "smtp;550 5.1.1 The email account that you tried to reach does not exist.",
  Email: "ada@example.com",
  From: "news@example.org",
  BouncedAt: "2026-11-20T21:41:30Z",
  DumpAvailable: true,
  Inactive: true,
  CanActivate: true,
  Subject: "News",
  ...fields,
});

const postmark: readonly (readonly [string, object, unknown])[] = [
  ["a hard bounce", postmarkBounce({}), ["hard", "5.1.1", 550]],
  [
    "a soft bounce",
    postmarkBounce({ Type: "SoftBounce", TypeCode: 4096, Details: "smtp;452 4.2.2 mailbox full" }),
    ["soft", "4.2.2", 452],
  ],
  [
    "a blocked mail",
    postmarkBounce({ Type: "Blocked", TypeCode: 100006, Details: "550 5.7.1 blocked" }),
    ["unknown", "5.7.1", 550],
  ],
  ...["NewType", "constructor"].map(
    (Type) =>
      [
        `a type that it has not had before, ${Type}, by the answer of the mail server`,
        postmarkBounce({ Type, Details: "550 5.1.1 no such user" }),
        ["hard", "5.1.1", 550],
      ] as const,
  ),
  ["an automatic reply", postmarkBounce({ Type: "AutoResponder", TypeCode: 32 }), "auto-reply"],
  [
    "a spam complaint",
    postmarkBounce({ RecordType: "SpamComplaint", Type: "SpamComplaint", TypeCode: 512, Name: "Spam complaint" }),
    ["complaint", "abuse"],
  ],
  ["a delivery", { RecordType: "Delivery", MessageID: "883953f4", Recipient: "ada@example.com" }, "delivered"],
  ["a mail that was opened", { RecordType: "Open", FirstOpen: true, MessageID: "883953f4" }, "delivered"],
];

describe("A notification of Postmark", () => {
  for (const [what, body, expected] of postmark) {
    it(`tells of ${what}`, () => {
      const [reading, ...more] = readPostmark(body) ?? [];
      expect(more).to.deep.equal([]);
      expect(inShort(reading)).to.deep.equal(expected);
      if (reading?.kind === "report") expect(namesIn(reading)).to.include("token");
    });
  }

  it("is no notification where it is anything else", () => {
    for (const body of [null, [], {}, { RecordType: 1 }, "text"]) expect(readPostmark(body)).to.equal(null);
  });
});

/** In the form that its guide documents. */
const sendgridEvent = (event: string, fields: object) => ({
  email: "ada@example.com",
  timestamp: 1513299569,
  "smtp-id": "<token@example.org>",
  event,
  category: ["cat facts"],
  sg_event_id: "sg_event_id",
  sg_message_id: "sg_message_id",
  ...fields,
});

const sendgrid: readonly (readonly [object, unknown])[] = [
  [sendgridEvent("processed", {}), "delivered"],
  [sendgridEvent("deferred", { response: "400 try again later", attempt: "5" }), "delayed"],
  [sendgridEvent("delivered", { response: "250 OK" }), "delivered"],
  [sendgridEvent("open", { useragent: "x", ip: "255.255.255.255" }), "delivered"],
  [
    sendgridEvent("bounce", { reason: "500 unknown recipient", status: "5.0.0", type: "bounce" }),
    ["hard", "5.0.0", 500],
  ],
  [
    sendgridEvent("bounce", { reason: "550 5.7.1 blocked by policy", status: "5.7.1", type: "blocked" }),
    ["unknown", "5.7.1", 550],
  ],
  [sendgridEvent("dropped", { reason: "Bounced Address", status: "5.0.0" }), ["hard", null, null]],
  [sendgridEvent("dropped", { reason: "Invalid" }), ["hard", null, null]],
  [sendgridEvent("dropped", { reason: "Spam Reporting Address" }), ["hard", null, null]],
  [sendgridEvent("dropped", { reason: "Unsubscribed Address" }), ["hard", null, null]],
  [sendgridEvent("dropped", { reason: "Invalid SMTPAPI header" }), ["unknown", null, null]],
  [sendgridEvent("dropped", { reason: "Spam Content" }), ["unknown", null, null]],
  [sendgridEvent("spamreport", {}), ["complaint", "abuse"]],
  [sendgridEvent("unsubscribe", {}), "delivered"],
];

describe("A notification of SendGrid", () => {
  it("tells of several mails at a time, and of each what became of it", () => {
    const readings = readSendgrid(sendgrid.map(([event]) => event)) ?? [];
    expect(readings.map(inShort)).to.deep.equal(sendgrid.map(([, expected]) => expected));
    for (const reading of readings)
      if (reading.kind === "report") expect(namesIn(reading)).to.include("<token@example.org>");
  });

  it("is read though an event beside it is of another application, whose arguments have names of SendGrid", () => {
    const readings = readSendgrid([sendgridEvent("open", { status: 7, type: null }), sendgridEvent("spamreport", {})]);
    expect(readings?.map(inShort)).to.deep.equal(["not-a-report", ["complaint", "abuse"]]);
  });

  it("is no notification where it is anything else", () => {
    for (const body of [null, {}, [{}], [{ event: 1 }], "text"]) expect(readSendgrid(body)).to.equal(null);
  });
});

describe("A notification that is posted", () => {
  const confirmation = {
    Type: "SubscriptionConfirmation",
    SubscribeURL: "https://sns.us-west-2.amazonaws.com/?Token=t",
  };

  it("is taken, each of its events, and what is none is refused", async () => {
    const reports = {
      take: async () => ({ result: "nothing", why: "delivered" }) as const,
      unattributed: { list: async () => [] },
    };
    const api = await startApi({ reports });
    const take = async (provider: string, body: unknown) => {
      const { status, body: answer } = await api.ask("POST", `/api/bounces/${provider}`, { body });
      return { status, events: answer.events };
    };
    expect(await take("ses", sesBounce({ bounceType: "Permanent", bouncedRecipients: [{}] }))).to.include({
      events: 1,
    });
    expect(await take("ses", confirmation)).to.include({ status: 200, events: 0 });
    expect(await take("postmark", postmarkBounce({}))).to.include({ events: 1 });
    expect(await take("sendgrid", [sendgridEvent("bounce", {}), sendgridEvent("open", {})])).to.include({ events: 2 });
    for (const body of ["[", "{}", '[{"event":1}]', "\u0000"])
      expect((await take("sendgrid", body)).status).to.equal(400);
    expect(api.logged.join("\n")).to.include(confirmation.SubscribeURL);
    await api.close();
  });
});
