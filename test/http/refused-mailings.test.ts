import { expect } from "chai";
import { jobTypes } from "../../src/job-kinds/all-job-kinds.ts";
import { earlier, later } from "../support/examples.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

type Refusal = readonly [title: string, change: object, pointer: string, message: RegExp];

const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, ""]));

const file = { filename: "a.txt", contentType: "text/plain", content: "aGk=" };

const refusals: readonly Refusal[] = [
  ["without a subject", { subject: undefined }, "/subject", /^subject is missing; expected 1 to 200 characters/],
  ["with a subject that is no string", { subject: 42 }, "/subject", /^subject is 42; expected/],
  ["with a subject of blanks", { subject: "   " }, "/subject", /^subject is ""; expected 1 to 200/],
  ["with a subject of 201 characters", { subject: "👋".repeat(201) }, "/subject", /expected 1 to 200/],
  ["with a header hidden in its subject", { subject: "Hi\r\nBcc: eve@x.org" }, "/subject", /without control/],
  ["with a line break after its subject", { subject: "Hi\n" }, "/subject", /without control/],
  ["with half a character in its subject", { subject: "Hi \ud83d" }, "/subject", /without control/],
  ["without a body", { body: undefined }, "/body", /^body is missing; expected a non-empty string/],
  ["with an empty body", { body: "" }, "/body", /^body is ""; expected a non-empty string/],
  ["with an empty text", { text: "" }, "/text", /non-empty/],
  ["with text and html", { text: "a", html: "b" }, "/text", /beside html/],
  ["with a line break in a name", { recipients: ["A\r\nBcc: eve@x.org <a@b.c>"] }, "/recipients/0", /e-mail address/],
  [
    "with a header in the name of a recipient",
    { recipients: [{ email: "a@b.c", name: "Ada\nBcc: eve@x.org" }] },
    "/recipients/0/name",
    /expected a name of at most 200 characters, without control/,
  ],
  [
    "with a name that is too long",
    { recipients: [{ email: "a@b.c", name: "x".repeat(201) }] },
    "/recipients/0/name",
    /at most 200 characters/,
  ],
  ["without recipients", { recipients: undefined }, "/recipients", /^recipients is missing; expected an array of 1 to/],
  [
    "with no recipients",
    { recipients: [] },
    "/recipients",
    /^recipients is an empty array; expected an array of 1 to 1000/,
  ],
  ["with one recipient for a list", { recipients: "ada@example.com" }, "/recipients", /expected an array/],
  [
    "with a bad address",
    { recipients: ["a@b.c", "ada@"] },
    "/recipients/1",
    /^recipients\[1\] is "ada@"; expected an e-/,
  ],
  ["with two addresses in one", { recipients: ["a@b.c,d@e.f"] }, "/recipients/0", /expected an e-mail address/],
  [
    "with a recipient that is a number",
    { recipients: [7] },
    "/recipients/0",
    /^recipients\[0\] is 7; expected an addr/,
  ],
  ["with a recipient that is null", { recipients: [null] }, "/recipients/0", /is null; expected an address/],
  ["with a bad address in an object", { recipients: [{ email: "ada" }] }, "/recipients/0/email", /e-mail address/],
  ["with a recipient without an address", { recipients: [{}] }, "/recipients/0/email", /is missing/],
  [
    "with an unknown field of a recipient",
    { recipients: [{ email: "a@b.c", nam: 1 }] },
    "/recipients/0/nam",
    /not a known/,
  ],
  [
    "with variables that are no object",
    { recipients: [{ email: "a@b.c", variables: ["Ada"] }] },
    "/recipients/0/variables",
    /^recipients\[0\].variables is an array of 1; expected an object/,
  ],
  [
    "with variables nested too deep",
    { recipients: [{ email: "a@b.c", variables: JSON.parse(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`) }] },
    "/recipients/0/variables",
    /nested too deep; expected at most 8 levels/,
  ],
  [
    "with more than 32 kB of variables",
    { recipients: [{ email: "a@b.c", variables: { name: "x".repeat(33_000) } }] },
    "/recipients/0/variables",
    /takes 33011 bytes of JSON; expected at most 32768/,
  ],
  [
    "with a template that never ends",
    { body: "Hello {{ name" },
    "/body",
    /^body cannot be read as a template at line 1, column 7: /,
  ],
  [
    "with an unknown filter",
    { subject: "Hi", html: "<p>\n  {{ 1 | shout }}" },
    "/html",
    /at line 2, column 3: undefined filter: shout/,
  ],
  ["with a tag that reads files", { text: "{% include 'x' %}" }, "/text", /line 1, column 1: tag "include" not found/],
  [
    "with 2001 tags",
    { body: "{{ email }}".repeat(2001) },
    "/body",
    /template: there are 2001 tags; expected at most 2000$/,
  ],
  [
    "with a variable that is not given",
    { subject: "Hi {{ name }}" },
    "/recipients/0",
    /^recipients\[0\] cannot fill in subject at line 1, column 7: undefined variable: name$/,
  ],
  [
    "with a subject that comes out empty",
    { subject: "{{ '' }}" },
    "/recipients/0",
    /makes a subject of 0 characters; expected 1 to 997$/,
  ],
  [
    "with a template without end",
    { body: "{% for i in (1..99999) %}{% for j in (1..99999) %}{% endfor %}{% endfor %}" },
    "/recipients/0",
    /it does too much$/,
  ],
  [
    "with an attachment without a name",
    { attachments: [{ ...file, filename: "" }] },
    "/attachments/0/filename",
    /expected a file name/,
  ],
  [
    "with a path for a file name",
    { attachments: [{ ...file, filename: "../a" }] },
    "/attachments/0/filename",
    /without a path/,
  ],
  [
    "with a header hidden in a file name",
    { attachments: [{ ...file, filename: "a\r\nBcc: x" }] },
    "/attachments/0/filename",
    /control/,
  ],
  [
    "with a file name that reads backwards",
    { attachments: [{ ...file, filename: "a\u202efdp.exe" }] },
    "/attachments/0/filename",
    /control/,
  ],
  [
    "with an attachment of parts",
    { attachments: [{ ...file, contentType: "multipart/mixed" }] },
    "/attachments/0/contentType",
    /media type/,
  ],
  [
    "with a header hidden in a type",
    { attachments: [{ ...file, contentType: "a/b\r\nX: y" }] },
    "/attachments/0/contentType",
    /media type/,
  ],
  [
    "with an attachment that is not base64",
    { attachments: [{ ...file, content: "ab*=" }] },
    "/attachments/0/content",
    /in base64$/,
  ],
  [
    "with a content id that is none",
    { attachments: [{ ...file, contentId: "<a>" }] },
    "/attachments/0/contentId",
    /100 characters/,
  ],
  [
    "with 11 attachments",
    { attachments: Array(11).fill(file) },
    "/attachments",
    /array of 11; expected an array of at most 10/,
  ],
  [
    "with an unknown field of an attachment",
    { attachments: [{ ...file, path: "/etc/passwd" }] },
    "/attachments/0/path",
    /not a known field/,
  ],
  ["with a dry run in words", { dryRun: "yes" }, "/dryRun", /^dryRun is "yes"; expected true or false$/],
  ["with a sender that is no address", { from: "Billing" }, "/from", /^from is "Billing"; expected an address/],
  ["with two senders", { from: "Doe, Jane <jane@example.com>" }, "/from", /expected an address/],
  ["with a header hidden in its sender", { from: "A\r\nBcc: e@x.org <a@b.c>" }, "/from", /expected an address/],
  ["with a bad reply address", { replyTo: "<>" }, "/replyTo", /expected an address/],
  ["with a header that the service sets", { headers: { "message-ID": "x" } }, "/headers/message-ID", /does not set/],
  ["with a Content- header", { headers: { "Content-Type": "x" } }, "/headers/Content-Type", /does not set/],
  [
    "with a header name that is none",
    { headers: { "X A": "x" } },
    "/headers/X A",
    /^headers\["X A"\] cannot be a name/,
  ],
  ["with a header hidden in a header", { headers: { "X-A": "b\r\nBcc: e@x.org" } }, "/headers/X-A", /without control/],
  ["with a header of 998 characters", { headers: { "X-A": "x".repeat(998) } }, "/headers/X-A", /at most 997/],
  ["with 21 headers", { headers: headers(21) }, "/headers", /at most 20 mail headers/],
  ["with a header that is a number", { headers: { "X-A": 1 } }, "/headers/X-A", /is 1; expected/],
  [
    "of an unknown type",
    { type: "sms.send" },
    "/type",
    new RegExp(`^type is "sms.send"; expected one of ${jobTypes.join(", ")}$`),
  ],
  ["of a type that is no text", { type: 7 }, "/type", /^type is 7; expected one of email.send/],
  ["of a type of null", { type: null }, "/type", /^type is null; expected one of email.send/],
  ["with a name of 201 characters", { name: "x".repeat(201) }, "/name", /at most 200/],
  ["with 21 keys of metadata", { metadata: headers(21) }, "/metadata", /at most 20 keys/],
  ["with metadata that is not flat", { metadata: { a: { b: "c" } } }, "/metadata/a", /is an object; expected a string/],
  [
    "with an unknown priority",
    { priority: "urgent" },
    "/priority",
    /^priority is "urgent"; expected one of high, normal/,
  ],
  [
    "with a time that is none",
    { scheduledAt: "tomorrow" },
    "/scheduledAt",
    /^scheduledAt is "tomorrow"; expected a time/,
  ],
  ["with a time without an offset", { scheduledAt: "2026-11-21T09:30:00" }, "/scheduledAt", /expected a time/],
  ["with a day that is not on the calendar", { notAfter: "2026-02-30T00:00:00Z" }, "/notAfter", /expected a time/],
  [
    "with an end before its beginning",
    { scheduledAt: later, notAfter: earlier },
    "/notAfter",
    /not before scheduledAt/,
  ],
  ["with no attempts", { maxAttempts: 0 }, "/maxAttempts", /^maxAttempts is 0; expected a whole number from 1 to 20/],
  ["with 21 attempts", { maxAttempts: 21 }, "/maxAttempts", /from 1 to 20/],
  ["with attempts in words", { maxAttempts: "4" }, "/maxAttempts", /^maxAttempts is "4"; expected/],
  ["with half a millisecond of delay", { retryDelay: 0.5 }, "/retryDelay", /whole number from 0 to 86400000/],
  ["with an unknown way of resolving doubt", { onUnknown: "ask" }, "/onUnknown", /expected one of resend, skip/],
  ["with a misspelt field", { sheduledAt: later }, "/sheduledAt", /^sheduledAt is not a known field$/],
  [
    "with a field of another kind of job",
    { payload: {} },
    "/payload",
    /^payload does not belong to a job of type email.send$/,
  ],
  ["with a field of null", { scheduledAt: null }, "/scheduledAt", /is null; expected a time/],
];

describe("A mailing that breaks a rule", () => {
  let api: RunningApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.close());

  const post = (body: unknown, headers: Record<string, string> = {}) => api.ask("POST", "/api/jobs", { body, headers });

  /** Nothing in this file may ever store anything. */
  afterEach(async () => {
    expect((await api.log.state()).lastSequence).to.equal(0);
    expect(api.stored).to.deep.equal([]);
  });

  for (const [title, change, pointer, message] of refusals) {
    it(`is refused ${title}`, async () => {
      const { status, body } = await post({ ...mailing, ...change });
      expect(status, JSON.stringify(body)).to.equal(400);
      expect(body.code).to.equal("validation-failed");
      const fault = body.errors.find((error: { pointer: string }) => error.pointer === pointer);
      expect(fault?.message, JSON.stringify(body.errors)).to.match(message);
      expect(body.errors).to.have.length(1);
    });
  }

  it("hears of every fault in one answer, ordered by place", async () => {
    const { body } = await post({
      recipients: ["ada", "a@b.c", ...Array(9).fill("b@b.c"), "bob"],
      subject: "",
      maxAttempts: 99,
      headers: { Bcc: "x" },
    });
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      "/body",
      "/headers/Bcc",
      "/maxAttempts",
      "/recipients/0",
      "/recipients/11",
      "/subject",
    ]);
    expect(body.detail).to.equal("body is missing; expected a non-empty string, and 5 more.");
  });

  it("hears of 50 faults at most", async () => {
    for (const faults of [{ recipients: Array(1000).fill("nobody") }, headers(100)]) {
      const { status, body } = await post({ ...mailing, ...faults });
      expect(status).to.equal(400);
      expect(body.errors).to.have.length(50);
    }
  });

  it("gets a value back shortened", async () => {
    const { body } = await post({ ...mailing, priority: "x".repeat(100_000) });
    expect(body.errors[0].message.length).to.be.lessThan(150);
  });

  it("is refused when it is an array", async () => {
    const { status, body } = await post([mailing]);
    expect(status).to.equal(400);
    expect(body.errors).to.deep.equal([{ pointer: "", message: "the body is an array of 1; expected an object" }]);
  });

  it("is too large with 1001 recipients, whatever else is wrong with it", async () => {
    const { status, body } = await post({ recipients: Array(1001).fill("ada@example.com") });
    expect(status).to.equal(413);
    expect(body).to.include({ code: "too-many-recipients" });
    expect(body.detail).to.match(/1001 recipients; expected at most 1000 in one job\. .*POST \/api\/mailings/);
  });

  it("is too large when its content does not fit into a message of the log", async () => {
    const { status, body } = await post({ ...mailing, body: "x".repeat(api.contentStore.maxBytes) });
    expect(status).to.equal(413);
    expect(body).to.include({ code: "content-too-large" });
  });

  for (const key of ["", " ", "a b", "ä", "x".repeat(256), '""']) {
    it(`is refused with the idempotency key ${JSON.stringify(key.slice(0, 10))} of ${key.length} characters`, async () => {
      const { status, body } = await post(mailing, { "Idempotency-Key": key });
      expect(status).to.equal(400);
      expect(body.errors[0].pointer).to.equal("Idempotency-Key");
    });
  }

  it("is refused with a parameter in the query", async () => {
    const { status, body } = await api.ask("POST", "/api/jobs?dryRun=true", { body: mailing });
    expect(status).to.equal(400);
    expect(body.errors).to.deep.equal([
      { pointer: "?dryRun", message: "dryRun is not a known parameter; expected none" },
    ]);
  });
});
