import { expect } from "chai";
import { handleCommand, handleMailingCommand } from "../../src/commands/handle-command.ts";
import { decodeContent } from "../../src/content/encode-content.ts";
import type { RecipientCounts } from "../../src/domain/job/events.ts";
import type { MailingCommand } from "../../src/domain/mailing/commands.ts";
import { noCounts } from "../../src/domain/mailing/counts.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createPart } from "../../src/mailings/create-part.ts";
import { isWebhookType } from "../../src/webhooks/tenant-webhooks.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCompleted, now, recipientSent } from "../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";
import { isSignedBy, type Received, type Receiver, startReceiver } from "../support/receiver.ts";
import { ownSecret, startWebhookSide, type WebhookSide } from "../support/webhook-side.ts";

const room = { isLeftForJobs: async () => true };
const allTypes = ["job.completed", "job.cancelled", "mailing.completed", "mailing.cancelled"].filter(isWebhookType);

describe("A mailing that has ended", function () {
  this.timeout(120_000);

  let side: WebhookSide;
  let receiver: Receiver;

  beforeEach(async () => {
    [side, receiver] = await Promise.all([startWebhookSide(), startReceiver()]);
  });
  afterEach(async () => {
    await side.cleanUp();
    await receiver.stop();
  });

  /** A started mailing of two parts, the first of which is a job. */
  async function startedMailing(request: { readonly webhookUrl?: string } = {}) {
    const { writeSide } = side;
    const mailing = await draftMailing(writeSide, "default", request);
    await importInto(writeSide, mailing, people(2));
    await importInto(writeSide, mailing, people(3, 10));
    await decide(writeSide, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const { ref: part } = await createPart(
      { ...writeSide, room },
      mailing,
      await stateOf(writeSide, mailing),
      0,
      cause,
    );
    return { mailing, part };
  }
  const endPart = async (part: JobRef): Promise<void> => {
    const sequence = await side.writeSide.log.lastDecision(part);
    await side.writeSide.log.append(part, [caused(`${part.jobId}/ended`, jobCompleted())], sequence);
  };
  const counts = (given: Partial<RecipientCounts>): RecipientCounts => ({ ...noCounts, ...given });
  const ended: MailingCommand = {
    type: "EndParts",
    at: now,
    parts: [
      { part: 0, result: "completed" as const, counts: counts({ total: 2, sent: 2 }) },
      { part: 1, result: "completed" as const, counts: counts({ total: 3, sent: 2, failed: 1 }) },
    ],
    retries: 0,
  };
  const received = (count: number): Promise<readonly Received[]> =>
    eventually(() => {
      expect(receiver.received).to.have.lengthOf(count);
      return receiver.received;
    }, 20_000);

  it("is one message to its webhookUrl and one to each endpoint, and its parts are none", async () => {
    side.start(null);
    const endpoint = await side.addEndpoint(`${receiver.url}/endpoint`, { types: allTypes });
    await side.addEndpoint(`${receiver.url}/jobs-only`, { types: ["job.completed"] });
    const { mailing, part } = await startedMailing({ webhookUrl: `${receiver.url}/own` });
    await endPart(part);
    await decide(side.writeSide, mailing, ended);
    const messages = await received(2);
    expect(messages.map(({ path }) => path)).to.have.members(["/own", "/endpoint"]);
    for (const message of messages) {
      const secret = message.path === "/own" ? ownSecret : (endpoint.secrets[0]?.text ?? "");
      expect(isSignedBy(secret, message)).to.equal(true);
      const { type, timestamp, data } = JSON.parse(message.text);
      expect([type, timestamp]).to.deep.equal(["mailing.completed", now]);
      expect(data).to.deep.include({ id: mailing.jobId, status: "completed-with-failures", parts: 2, name: "Autumn" });
      expect(data.progress).to.deep.equal({ ...counts({ total: 5, sent: 4, failed: 1 }), bounced: 0, complained: 0 });
    }
    await eventually(async () => expect(await side.notices(mailing)).to.have.lengthOf(2));
    expect(await side.notices(part)).to.deep.equal([]);
    // A job that ends later is told of, so the part was not merely late.
    const job = await side.endedJob(null);
    expect((await received(4)).slice(2).map(({ text }) => JSON.parse(text).data.id)).to.deep.equal([
      job.jobId,
      job.jobId,
    ]);
  });

  it("is none of its parts either where their creation was too long ago to be remembered", async () => {
    await side.addEndpoint(receiver.url, { types: allTypes });
    const { part } = await startedMailing();
    const { publish } = side.publisher();
    const [created] = await side.writeSide.log.readDecisions(part);
    expect(created?.event.type).to.equal("JobCreated");
    await endPart(part);
    const end = (await side.writeSide.log.readDecisions(part)).at(-1);
    if (end === undefined) throw new Error("The part has not ended.");
    await publish(end);
    expect(await side.notices(part)).to.deep.equal([]);
    const job = await side.endedJob(null);
    const endOfJob = (await side.writeSide.log.readDecisions(job)).at(-1);
    if (endOfJob === undefined) throw new Error("The job has not ended.");
    await publish(endOfJob);
    expect(await side.notices(job)).to.have.lengthOf(1);
  });

  it("is shown as it was when it was cancelled, on every attempt", async () => {
    await side.addEndpoint(receiver.url, { types: ["mailing.cancelled"] });
    const { mailing, part } = await startedMailing();
    const { log } = side.writeSide;
    await log.record(part, [caused(`${part.jobId}/0`, recipientSent({ recipient: 0 }))]);
    await decide(side.writeSide, mailing, { type: "CancelMailing", at: now, reason: "by mistake" });
    await log.record(part, [caused(`${part.jobId}/1`, recipientSent({ recipient: 1 }))]);
    const outcome = await handleCommand(log, part, { type: "CancelJob", at: now, reason: null }, cause);
    expect(outcome.outcome).to.equal("accepted");
    side.start(null);
    const [message] = await received(1);
    const { type, data } = JSON.parse(message?.text ?? "");
    expect(type).to.equal("mailing.cancelled");
    expect(data).to.include({ id: mailing.jobId, status: "cancelled", completedAt: now });
    expect(data.progress).to.deep.equal({ ...counts({ total: 5, sent: 1, pending: 4 }), bounced: 0, complained: 0 });
    const again = await handleMailingCommand(log, mailing, { type: "CancelMailing", at: now, reason: null }, cause);
    expect(again.outcome).to.equal("rejected");
  });

  it("leaves its webhookUrl out of the contents of its parts", async () => {
    const { mailing, part } = await startedMailing({ webhookUrl: "https://example.com/hook" });
    const { contentStore } = side.writeSide;
    const [letter, content] = await Promise.all([contentStore.get(mailing), contentStore.get(part)]);
    if (letter === null || content === null) throw new Error("A content is missing.");
    expect(decodeContent(letter).webhookUrl).to.equal("https://example.com/hook");
    expect(decodeContent(content)).not.to.have.property("webhookUrl");
  });
});
