import { expect } from "chai";
import { openAccess } from "../support/access.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { bounceOf, complaintAbout, sendBack as sendBackTo } from "../support/came-back.ts";
import { eventually } from "../support/eventually.ts";
import { findFreePort } from "../support/free-port.ts";
import { bearer, storedKey } from "../support/keys.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const returnPath = "bounces@b.example.org";
const people = ["ada@example.com", "bob@example.com", "cid@example.com", "dan@example.com"];
const letter = { subject: "News", body: "Hello", recipients: people };

type Told = { readonly result: string; readonly jobId: string | null; readonly recipient: number | null };

describe("a mail that comes back after it was sent", function () {
  this.timeout(180_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let client: ApiClient;
  let port: number;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    port = await findFreePort();
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    waybill = await startWaybill(surroundings, { MAIL_RETURN_PATH: returnPath, BOUNCES_PORT: String(port) });
    client = createApiClient(waybill.url);
  });
  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });
  beforeEach(() => mailServer.forgetMails());

  const mailTo = (address: string) => {
    const mail = mailServer.mails.findLast(({ to }) => to.includes(address));
    if (mail === undefined) throw new Error(`${address} has no mail`);
    return mail;
  };
  const sendBack = (to: string | readonly string[], raw: string): Promise<string> => sendBackTo(port, to, raw);
  const post = async (body: string, path = "", type = "message/rfc822", headers: Record<string, string> = {}) => {
    const init = { method: "POST", body, headers: { "Content-Type": type, ...headers } };
    const answer = await fetch(`${waybill.url}/api/bounces${path}`, init);
    return { status: answer.status, body: (await answer.json()) as Told };
  };
  const sent = async () => {
    const job = await client.ended(await client.create(letter));
    expect(job.status).to.equal("completed");
    return job.id;
  };
  const progressOf = async (jobId: string) =>
    ((await client.get(`/api/jobs/${jobId}`)).body as { progress: Record<string, number> }).progress;
  const suppressed = async (email: string) =>
    ((await client.get(`/api/suppressions?email=${email}`)).body as { data: { reason: string; event?: string }[] })
      .data;

  it("is known to be lost, its address is never mailed again, and everything that tells of the mail says so", async () => {
    const jobId = await sent();
    const { from, messageId } = mailTo("ada@example.com");
    expect(from).to.match(/^bounces\+[0-9a-v]{45}@b\.example\.org$/);
    expect(messageId).to.equal(`<${from.slice("bounces+".length, from.indexOf("@"))}@example.org>`);
    expect(from).to.not.equal(mailTo("bob@example.com").from);

    expect(await sendBack(from, bounceOf(from))).to.match(/^250/);
    await eventually(async () => expect(await progressOf(jobId)).to.include({ sent: 4, bounced: 1, complained: 0 }));
    await eventually(async () => {
      const [entry] = await suppressed("ada@example.com");
      expect(entry?.reason).to.equal("hard-bounce");
      expect(entry?.event).to.include(jobId);
    });
    const logs = (await client.get(`/api/jobs/${jobId}/logs?status=bounced`)).body as {
      email: string;
      response: string;
    }[];
    expect(logs.map(({ email, response }) => [email, response])).to.deep.equal([
      ["ada@example.com", "550 5.1.1 <***>: User unknown"],
    ]);
    const ledger = (await client.get("/api/recipients?email=ada@example.com")).body as {
      data: { history: { status: string }[] }[];
    };
    expect(ledger.data[0]?.history.map(({ status }) => status)).to.deep.equal(["sent", "bounced"]);
    const evidence = await fetch(`${waybill.url}/api/jobs/${jobId}/evidence`);
    expect(await evidence.text()).to.include("RecipientBounced");

    const again = await client.ended(await client.create({ ...letter, subject: "More news" }));
    expect(again.progress).to.include({ sent: 3, suppressed: 1 });
    expect(mailServer.mails.filter(({ to }) => to.includes("ada@example.com"))).to.have.lengthOf(1);
  });

  it("is one that its recipient complains of, and the address is never mailed again either", async () => {
    const jobId = await sent();
    const { messageId } = mailTo("bob@example.com");
    expect(await sendBack(returnPath, complaintAbout(messageId ?? "", returnPath))).to.match(/^250/);
    await eventually(async () => expect(await progressOf(jobId)).to.include({ complained: 1 }));
    await eventually(async () => expect((await suppressed("bob@example.com"))[0]?.reason).to.equal("complaint"));
    const found = (await client.get(`/api/jobs/${jobId}/recipients?status=complained`)).body as {
      data: { email: string }[];
    };
    expect(found.data.map(({ email }) => email)).to.deep.equal(["bob@example.com"]);
  });

  it("is told over HTTP as well, once, by the mail itself or by a provider", async () => {
    const jobId = await sent();
    const cid = mailTo("cid@example.com");
    const bounce = bounceOf(cid.from, "4.2.2", "452 4.2.2 mailbox full");
    const first = await post(`To: ${cid.from}\r\nReturn-Path: <${cid.from}>\r\n${bounce}`);
    expect(first).to.deep.include({ status: 200 });
    // The return path that the report was sent to is in its own header.
    expect(first.body).to.deep.include({ result: "recorded", jobId, recipient: 2 });
    const enclosing = bounce
      .replaceAll(cid.from, returnPath)
      .replace("--b--", `--b\r\nContent-Type: text/rfc822-headers\r\n\r\nReturn-Path: <${cid.from}>\r\n--b--`);
    expect((await post(enclosing)).body).to.deep.include({ result: "known", jobId, recipient: 2 });
    expect((await post(enclosing)).body.result).to.equal("known");
    const dan = mailTo("dan@example.com");
    const ses = {
      notificationType: "Bounce",
      bounce: {
        bounceType: "Permanent",
        bounceSubType: "General",
        bouncedRecipients: [
          { emailAddress: "dan@example.com", status: "5.1.1", diagnosticCode: "smtp; 550 5.1.1 user unknown" },
        ],
      },
      mail: { source: dan.from, messageId: "0102-ses" },
    };
    const sns = JSON.stringify({ Type: "Notification", Message: JSON.stringify(ses) });
    const told = await post(sns, "/ses", "text/plain; charset=UTF-8");
    expect(told.body).to.deep.equal({ events: 1, recorded: 1, known: 0, unattributed: 0, nothing: 0 });
    await eventually(async () => expect(await progressOf(jobId)).to.include({ bounced: 2 }));
  });

  it("changes nothing where it is forged, comes again, or is no report", async () => {
    const jobId = await sent();
    const { from } = mailTo("cid@example.com");
    const forged = from.replace(/\+(.)/, (_, first: string) => `+${first === "a" ? "b" : "a"}`);
    expect(await sendBack(forged, bounceOf(forged))).to.match(/^550 5\.1\.1/);
    expect(await sendBack("someone@b.example.org", bounceOf("x"))).to.match(/^550/);
    expect(await sendBack(from, "From: cid@example.com\r\nSubject: Re: News\r\n\r\nThank you!\r\n")).to.match(/^250/);
    expect(await sendBack(from, `Subject: big\r\n\r\n${"x".repeat(998)}\r\n`.repeat(13_000))).to.match(/^552/);
    for (let times = 0; times < 3; times += 1) expect(await sendBack(from, bounceOf(from))).to.match(/^250/);
    await eventually(async () => expect(await progressOf(jobId)).to.include({ bounced: 1 }));
    const events = (await client.get(`/api/jobs/${jobId}/events`)).body as { type: string }[];
    expect(events.filter(({ type }) => type === "RecipientBounced")).to.have.lengthOf(1);
    expect((await post("{", "/postmark", "application/json")).status).to.equal(400);
  });

  it("is about each mail whose return path it came to", async () => {
    const { id: jobId } = await client.ended(
      await client.create({ ...letter, recipients: ["fay@example.com", "gus@example.com"] }),
    );
    const to = [mailTo("fay@example.com").from, mailTo("gus@example.com").from];
    expect(await sendBack(to, bounceOf(to[0] ?? "", "4.2.2", "452 4.2.2 full"))).to.match(/^250/);
    await eventually(async () => expect(await progressOf(jobId)).to.include({ bounced: 2 }));
  });

  it("is kept for a person to see where it names no mail, without the address", async () => {
    const bounce = bounceOf(returnPath).replace("User unknown", "No such person");
    expect(await sendBack(returnPath, bounce)).to.match(/^250/);
    const { data } = (await client.get("/api/admin/bounces/unattributed")).body as { data: { diagnostic: string }[] };
    expect(data.map(({ diagnostic }) => diagnostic)).to.deep.equal(["550 5.1.1 <***>: No such person"]);
  });

  it("is a matter of the tenant whose mail it was", async () => {
    await client.ended(await client.create({ ...letter, recipients: ["eve@example.com"] }));
    const { from } = mailTo("eve@example.com");
    const access = await openAccess(nats);
    try {
      const other = await storedKey(access.store, { tenant: "other", scopes: ["bounces:write"] });
      await eventually(async () => {
        const told = await post(
          bounceOf(from).replace("MIME-Version", `References: <${from}>\r\nMIME-Version`),
          "",
          "message/rfc822",
          bearer(other.text),
        );
        expect(told.body.result).to.equal("unattributed");
      });
      const basic = { Authorization: `Basic ${Buffer.from(`any:${other.text}`).toString("base64")}` };
      expect((await post("[]", "/sendgrid", "application/json", basic)).status).to.equal(200);
      expect((await post("[]", "/sendgrid", "application/json")).status).to.equal(401);
    } finally {
      await access.close();
    }
  });
});
