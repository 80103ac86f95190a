import { expect } from "chai";
import { encodeContent } from "../../src/content/encode-content.ts";
import type { RecipientOutcome } from "../../src/domain/recipients/events.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { RecipientWebhookType, WebhookType } from "../../src/domain/webhooks/events.ts";
import type { JobRef, NewEntry, NewEvent } from "../../src/event-log/event-log.ts";
import { createJetStreamLogGauge } from "../../src/event-log/following/jetstream-log-gauge.ts";
import type { LogGauge } from "../../src/event-log/following/log-gauge.ts";
import { readNetworks } from "../../src/signed-post/addresses.ts";
import { createSafePost } from "../../src/signed-post/http-safe-post.ts";
import { newSecret } from "../../src/signed-post/secret.ts";
import { createPeople } from "../../src/webhooks/people.ts";
import { recipientEndpointsOf } from "../../src/webhooks/recipient-endpoints.ts";
import type { RecipientMessage } from "../../src/webhooks/recipient-messages.ts";
import type { Skipped } from "../../src/webhooks/recipient-stream.ts";
import {
  createRecipientWebhooks,
  type RecipientWebhooks,
  type RecipientWebhooksPorts,
} from "../../src/webhooks/recipient-webhooks.ts";
import { noWebhooks, withEndpoint, withoutEndpoint } from "../../src/webhooks/tenant-webhooks.ts";
import type { WebhookStore } from "../../src/webhooks/webhook-store.ts";
import { eventually } from "../support/eventually.ts";
import {
  caused,
  earlier,
  recipientBounced,
  recipientDeferred,
  recipientFailed,
  recipientSent,
  recipientSuppressed,
} from "../support/examples.ts";
import { createMemoryWebhookStore } from "../support/memory/memory-webhook-store.ts";
import { isSignedBy, type Received, type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { exampleContent, startWriteSide, type WriteSide } from "../support/write-side.ts";

type Call = { readonly id: string; readonly type: string; readonly data: readonly RecipientMessage[] };

const tenants = ["default", "acme"];
const allowed = readNetworks("127.0.0.0/8").filter((network) => network !== null);

describe("An endpoint that asks for what happens to recipients", function () {
  this.timeout(120_000);

  let side: WriteSide;
  let receiver: Receiver;
  let store: WebhookStore;
  let skipped: Skipped[];
  let running: RecipientWebhooks[];
  let endpoints = 0;
  let gauge: LogGauge;

  beforeEach(async () => {
    [side, receiver] = await Promise.all([startWriteSide(), startReceiver()]);
    gauge = await createJetStreamLogGauge(side.connection, side.nats.prefix);
    store = createMemoryWebhookStore();
    [skipped, running, endpoints] = [[], [], 0];
  });
  afterEach(async () => {
    for (const webhooks of running) await webhooks.stop(0);
    await side.cleanUp();
    await receiver.stop();
  });

  const start = (changed: Partial<RecipientWebhooksPorts> = {}): RecipientWebhooks => {
    const webhooks = createRecipientWebhooks({
      log: side.log,
      gauge,
      checkpoints: side.checkpoints,
      endpoints: {
        now: async () => {
          const all = await Promise.all(tenants.map(async (one) => recipientEndpointsOf(one, await store.read(one))));
          return { endpoints: all.flat(), unreadable: new Set() };
        },
      },
      store,
      people: createPeople(side.contentStore, side.log),
      post: createSafePost({ allowed }),
      delayMs: () => 50,
      skipped: (one) => skipped.push(one),
      report: () => {},
      ...changed,
    });
    webhooks.start();
    running.push(webhooks);
    return webhooks;
  };
  const ask = async (
    path: string,
    types: readonly WebhookType[] = ["recipient.sent"],
    { tenant = "default", createdAt = earlier } = {},
  ) => {
    endpoints += 1;
    const endpoint = {
      id: `endpoint-${endpoints}`,
      url: receiver.url + path,
      types,
      createdAt,
      secrets: [newSecret()],
    };
    await store.change(tenant, (before) => withEndpoint(before, endpoint));
    return endpoint;
  };
  const addresses = (count: number) => Array.from({ length: count }, (_, index) => `person-${index}@example.com`);
  /** As a worker records it: a few dozen outcomes in one entry. */
  const sendAll = async (job: JobRef, count: number, from = 0, inOne = 30): Promise<void> => {
    for (let first = from; first < from + count; first += inOne) {
      const many = Math.min(inOne, from + count - first);
      const sent = Array.from({ length: many }, (_, offset) => first + offset).map((recipient) => {
        const event = recipientSent({ recipient });
        return caused(`${job.jobId}/sent/${recipient}`, event) as NewEvent<RecipientOutcome>;
      });
      await side.log.record(job, sent as unknown as NewEntry<RecipientOutcome>);
    }
  };
  const callsTo = (path: string): readonly Call[] => receiver.received.filter((one) => one.path === path).map(toCall);
  const messagesTo = (path: string): readonly RecipientMessage[] => callsTo(path).flatMap(({ data }) => data);
  const inOrder = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);
  const recipientsTo = (path: string) => messagesTo(path).map(({ recipient }) => recipient);

  it("gets several in one call, at most 100, in order, signed, and hardly later than a second", async () => {
    const { secrets } = await ask("/all");
    start();
    const job = await side.createJob(addresses(250));
    await sendAll(job, 250);
    await eventually(() => expect(recipientsTo("/all")).to.have.lengthOf(250));
    expect(recipientsTo("/all")).to.deep.equal(inOrder(250));
    const calls = callsTo("/all");
    expect(Math.max(...calls.map(({ data }) => data.length))).to.be.at.most(100);
    expect(calls.length).to.be.lessThan(10);
    expect(new Set(calls.map(({ id }) => id)).size).to.equal(calls.length);
    for (const one of receiver.received) expect(isSignedBy(secrets[0]?.text ?? "", one)).to.equal(true);
    const begunAt = Date.now();
    await side.log.record(job, [caused(`${job.jobId}/late`, recipientSent({ recipient: 7 }))]);
    await eventually(() => expect(recipientsTo("/all")).to.have.lengthOf(251));
    expect(Date.now() - begunAt).to.be.lessThan(3000);
  });

  it("reads who it was, and what was answered", async () => {
    await ask("/all", ["recipient.sent", "recipient.failed", "recipient.bounced", "recipient.suppressed"]);
    start();
    const job = await side.createJob(addresses(3), {}, { mailingId: "mailing-1" });
    await side.log.record(job, [
      caused(`${job.jobId}/a`, recipientSent({ recipient: 0 })),
      caused(`${job.jobId}/b`, recipientFailed({ recipient: 1 })),
      caused(`${job.jobId}/c`, recipientDeferred({ recipient: 2 })),
      caused(`${job.jobId}/d`, recipientSuppressed({ recipient: 2 })),
    ]);
    await side.log.append(job, [caused(`${job.jobId}/e`, recipientBounced({ recipient: 0 }))], 0);
    await eventually(() => expect(messagesTo("/all")).to.have.lengthOf(4));
    const [call] = callsTo("/all");
    expect(call?.type).to.equal("recipient.batch");
    const [sent, failed, suppressed, bounced] = messagesTo("/all");
    expect(sent).to.deep.include({
      id: `${job.jobId}/a`,
      type: "recipient.sent",
      jobId: job.jobId,
      mailingId: "mailing-1",
      recipient: 0,
      email: "person-0@example.com",
      response: "250 2.0.0 OK",
    });
    expect(failed).to.deep.include({ type: "recipient.failed", email: "person-1@example.com" });
    expect(failed?.["error"]).to.include({ replyCode: 550 });
    expect(suppressed).to.deep.include({ type: "recipient.suppressed", reason: "unsubscribe" });
    expect(bounced).to.deep.include({ type: "recipient.bounced", bounce: "hard", statusCode: "5.1.1" });
  });

  it("gets the types that it names, of its own tenant, since its creation", async () => {
    const only = (type: RecipientWebhookType) => ask(`/${type}`, [type, "job.completed"]);
    await only("recipient.sent");
    await only("recipient.failed");
    await ask("/acme", ["recipient.sent"], { tenant: "acme" });
    await ask("/late", ["recipient.sent"], { createdAt: "2999-01-01T00:00:00.000Z" });
    await ask("/ends", ["job.completed"]);
    start();
    const job = await side.createJob(addresses(2));
    await side.log.record(job, [
      caused(`${job.jobId}/a`, recipientSent({ recipient: 0 })),
      caused(`${job.jobId}/b`, recipientFailed({ recipient: 1 })),
    ]);
    const other = await side.createJob(addresses(1), {}, {}, "acme");
    await sendAll(other, 1);
    await eventually(() => expect(receiver.received).to.have.lengthOf(3));
    expect(messagesTo("/recipient.sent").map(({ jobId }) => jobId)).to.deep.equal([job.jobId]);
    expect(messagesTo("/recipient.failed").map(({ recipient }) => recipient)).to.deep.equal([1]);
    expect(messagesTo("/acme").map(({ jobId }) => jobId)).to.deep.equal([other.jobId]);
  });

  it("gets no address of a person that was erased", async () => {
    await ask("/all");
    const job = await side.createJob(addresses(2));
    const recipients = [{ email: "person-0@example.com" }, null];
    await side.contentStore.rewrite(job, () => encodeContent({ ...exampleContent, recipients }));
    await sendAll(job, 2);
    start();
    await eventually(() => expect(messagesTo("/all")).to.have.lengthOf(2));
    expect(messagesTo("/all").map(({ email }) => email)).to.deep.equal(["person-0@example.com", null]);
  });

  it("is called again with the same ids until it takes them, and others go on meanwhile", async () => {
    let isAway = true;
    receiver.answers((response, received) => {
      const status = isAway && received.path === "/away" ? 500 : 204;
      response.writeHead(status).end();
    });
    await ask("/away");
    await ask("/well");
    start();
    const job = await side.createJob(addresses(1000));
    await sendAll(job, 500);
    await eventually(() => expect(recipientsTo("/well")).to.deep.equal(inOrder(500)));
    await eventually(() => expect(callsTo("/away").length).to.be.at.least(3));
    expect(new Set(callsTo("/away").map(({ id }) => id)).size).to.equal(1);
    await sendAll(job, 500, 500);
    await eventually(() => expect(recipientsTo("/well")).to.deep.equal(inOrder(1000)));
    isAway = false;
    const taken = () => [...new Set(recipientsTo("/away"))];
    await eventually(() => expect(taken()).to.have.lengthOf(1000));
    expect(taken()).to.deep.equal(inOrder(1000));
    expect(skipped).to.deep.equal([]);
  });

  it("is called again where no answer came in time", async () => {
    let calls = 0;
    receiver.answers((response) => {
      calls += 1;
      if (calls > 1) response.writeHead(204).end();
    });
    await ask("/slow");
    start({ post: createSafePost({ allowed, timeoutMs: 300 }) });
    const job = await side.createJob(addresses(1));
    await sendAll(job, 1);
    await eventually(() => expect(callsTo("/slow")).to.have.lengthOf(2));
    expect(new Set(callsTo("/slow").map(({ id }) => id)).size).to.equal(1);
  });

  it("goes on without a gap after a restart, and is served by one process at a time", async () => {
    await ask("/all");
    const [first] = [start(), start()];
    const job = await side.createJob(addresses(600));
    await sendAll(job, 300);
    await eventually(() => expect(recipientsTo("/all")).to.deep.equal(inOrder(300)));
    await first?.stop(2000);
    await sendAll(job, 300, 300);
    await eventually(() => expect([...new Set(recipientsTo("/all"))]).to.deep.equal(inOrder(600)));
    for (const webhooks of running) await webhooks.stop(2000);
    const before = recipientsTo("/all").length;
    const meanwhile = caused(`${job.jobId}/meanwhile`, recipientSent({ recipient: 5 }));
    await side.log.record(job, [meanwhile]);
    start();
    await eventually(() => expect(messagesTo("/all").map(({ id }) => id)).to.include(meanwhile.id));
    expect(recipientsTo("/all")).to.have.lengthOf(before + 1);
  });

  it("is called no more by a process whose place another has taken", async () => {
    await ask("/all");
    const job = await side.createJob(addresses(100));
    let isFrozen = false;
    const { checkpoints } = side;
    start({
      checkpoints: {
        read: checkpoints.read,
        write: (...given) => (isFrozen ? Promise.reject(new Unavailable("away")) : checkpoints.write(...given)),
      },
      post: (request) => createSafePost({ allowed })({ ...request, url: `${receiver.url}/first` }),
    });
    await sendAll(job, 50);
    await eventually(() => expect(recipientsTo("/first")).to.deep.equal(inOrder(50)));
    isFrozen = true;
    start();
    await sendAll(job, 1, 50);
    await eventually(() => expect(recipientsTo("/all")).to.include(50));
    const taken = recipientsTo("/first").length;
    await sendAll(job, 49, 51);
    await eventually(() => expect(recipientsTo("/all")).to.include(99));
    expect(recipientsTo("/first")).to.have.lengthOf(taken);
  });

  it("is left out of what it refuses for long, and of what it missed if it was away for too long", async () => {
    await ask("/refuses");
    await ask("/away");
    receiver.answers((response, { path, text }) => {
      const refused = path === "/refuses" && text.includes("/sent/0");
      response.writeHead(path === "/away" ? 500 : refused ? 400 : 204).end();
    });
    start({ limits: { outageMs: 1500, refusalMs: 300 } });
    const job = await side.createJob(addresses(150));
    await sendAll(job, 150, 0, 50);
    await eventually(() => expect(skipped).to.have.lengthOf(2));
    expect(skipped.map(({ why }) => why)).to.have.members(["refused", "outage"]);
    await eventually(() => expect(recipientsTo("/refuses")).to.include(149));
    receiver.answers(withStatus(204));
    await sendAll(job, 1, 7, 1);
    const more = caused(`${job.jobId}/more`, recipientSent({ recipient: 3 }));
    await side.log.record(job, [more]);
    await eventually(() => expect(messagesTo("/away").map(({ id }) => id)).to.include(more.id));
    expect(recipientsTo("/away")).not.to.include(149);
  });

  it("gets the messages of three days again where the checkpoint was lost, and none before", async () => {
    await ask("/all");
    const job = await side.createJob(addresses(3));
    await sendAll(job, 3, 0, 1);
    const { lastSequence } = await side.log.state();
    const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
    const storedAfter = async (sequence: number) => days(sequence + 1 >= lastSequence - 1 ? 2.9 : 3.1);
    start({ gauge: { storedAfter } });
    await eventually(() => expect(recipientsTo("/all")).to.deep.equal([1, 2]));
  });

  it("gets nothing more once it was deleted", async () => {
    const { id } = await ask("/gone");
    await ask("/well");
    start();
    const job = await side.createJob(addresses(20));
    await sendAll(job, 10);
    await eventually(() => expect(receiver.received).to.have.lengthOf(2));
    await store.change("default", (before) => withoutEndpoint(before, id));
    await sendAll(job, 10, 10);
    await eventually(() => expect(recipientsTo("/well")).to.have.lengthOf(20));
    expect(recipientsTo("/gone")).to.have.lengthOf(10);
  });

  it("gets its messages though a server that lagged behind did not know it yet", async () => {
    await ask("/new");
    let isBehind = true;
    const read: WebhookStore["read"] = async (tenant) => {
      const webhooks = isBehind ? noWebhooks : await store.read(tenant);
      isBehind = false;
      return webhooks;
    };
    start({ store: { read } });
    await sendAll(await side.createJob(addresses(5)), 5);
    await eventually(() => expect(recipientsTo("/new")).to.deep.equal(inOrder(5)));
  });

  it("costs nothing where no endpoint asks: the log is not read", async () => {
    await ask("/ends", ["job.completed"]);
    let follows = 0;
    const asked = new Set<string>();
    const log: typeof side.log = {
      ...side.log,
      follow: (options) => {
        follows += 1;
        return side.log.follow(options);
      },
      state: (until) => {
        asked.add("state");
        return side.log.state(until);
      },
    };
    start({ log });
    await sendAll(await side.createJob(addresses(5)), 5);
    await eventually(() => expect(asked.size).to.equal(1));
    await ask("/later");
    await sendAll(await side.createJob(addresses(5)), 5);
    await eventually(() => expect(follows).to.equal(1));
    await eventually(() => expect(messagesTo("/later").length).to.be.at.least(5));
  });
});

const toCall = ({ headers, text }: Received): Call => ({ ...JSON.parse(text), id: String(headers["webhook-id"]) });
