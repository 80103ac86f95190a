import { type ConsumerInfo, createInbox, type Msg } from "nats";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { type DurableConsumer, ensureDurable, nextMessages, readPending } from "../nats/consumers.ts";
import { isConsumerMissing, isStreamMissing } from "../nats/errors.ts";
import { deliveryOf, isStatus, storedAtOf } from "../nats/message.ts";
import { nameWith } from "../nats/names.ts";
import { describesObject, nameOfObject, streamOfObjects } from "../nats/object-store.ts";
import type { StoredThing, StoredThings, UnsettledThing } from "./stored-things.ts";

const atOnce = 100;
const readAtOnce = 1000;
const silenceMs = 1500;
const comesBackAfterMs = 60_000;

type Source = {
  readonly consumer: DurableConsumer;
  /** The thing that a subject names; null for a message that the service did not store. */
  readonly thingOf: (subject: string) => StoredThing | null;
};

/** One durable consumer for contents and one for attachments remember what was settled. They fetch headers only. */
export function createJetStreamStoredThings(connection: JetStreamConnection, prefix: string): StoredThings {
  const contents = contentsOf(prefix);
  const sources = [contents, attachmentsOf(prefix)];
  // The sooner it is seen the better: what is stored meanwhile may bring the stream up to the position again.
  connection.onReconnect(() => {
    for (const { consumer } of sources) ensureSweeper(connection, consumer).catch(() => {});
  });
  return {
    unsettled: async (storedBeforeMs) => {
      for (const source of sources) {
        const things = await unsettledOf(connection, source, storedBeforeMs);
        if (things.length > 0) return things;
      }
      return [];
    },
    unsettledOf: async function* (tenant) {
      const { stream } = contents.consumer;
      const { ack_floor } = await ensureSweeper(connection, contents.consumer);
      const manager = await manage(connection);
      const { state } = await asking(connection, () => manager.streams.info(stream));
      const headers = { batch: readAtOnce, headersOnly: true, end: state.last_seq };
      for await (const messages of readPending(connection, stream, ack_floor.stream_seq, headers)) {
        for (const message of messages) {
          const job = contents.thingOf(message.subject)?.job;
          if (job?.tenant === tenant) yield { job, storedAtMs: millisOf(message) };
        }
      }
    },
  };
}

/**
 * After a power cut the stream may end before the position of the consumer, up to NATS 2.12: what is stored next gets numbers
 * that the consumer has passed. A new consumer gives it all things again, each of which costs a look.
 */
async function ensureSweeper(connection: JetStreamConnection, consumer: DurableConsumer): Promise<ConsumerInfo> {
  const { stream, name } = consumer;
  const manager = await manage(connection);
  for (;;) {
    await ensureDurable(connection, consumer);
    try {
      // Before the stream: it does not end before a position from then.
      const info = await asking(connection, () => manager.consumers.info(stream, name));
      const { state } = await asking(connection, () => manager.streams.info(stream));
      if (info.delivered.stream_seq <= state.last_seq) return info;
      await asking(connection, () => manager.consumers.delete(stream, name));
    } catch (failure) {
      // Another process was faster.
      if (!isConsumerMissing(failure)) throw failure;
    }
  }
}

const manage = (connection: JetStreamConnection) =>
  asking(connection, () => connection.nats.jetstreamManager({ checkAPI: false }));

async function unsettledOf(
  connection: JetStreamConnection,
  { consumer, thingOf }: Source,
  storedBeforeMs: number,
): Promise<readonly UnsettledThing[]> {
  try {
    await ensureSweeper(connection, consumer);
  } catch (failure) {
    // The stream of attachments is created with the first attachment.
    if (isStreamMissing(failure)) return [];
    throw failure;
  }
  return (await nextAtOnce(connection, consumer)).flatMap((message) => {
    const say = (word: string): void => connection.say(message.reply ?? "", word);
    const thing = thingOf(message.subject);
    const isOld = millisOf(message) <= storedBeforeMs;
    if (thing === null) say("+ACK");
    // Returned for the next request; the server adds no delay.
    else if (!isOld) say("-NAK");
    return thing !== null && isOld ? [{ ...thing, settle: () => say("+ACK") }] : [];
  });
}

function contentsOf(prefix: string): Source {
  const all = streamFilter(prefix, "CONTENT");
  return {
    consumer: sweeperOf(streamName(prefix, "CONTENT"), null),
    thingOf: (subject) => {
      const [tenant, jobId, ...rest] = subject.slice(all.length - 1).split(".");
      return tenant && jobId && rest.length === 0 ? { job: { tenant, jobId }, attachment: null } : null;
    },
  };
}

/** Each object has one metadata message after those with its bytes; the name of the object stands in the subject. */
function attachmentsOf(prefix: string): Source {
  const bucket = nameWith(prefix, "ATTACHMENTS");
  return {
    consumer: sweeperOf(streamOfObjects(bucket), `${describesObject(bucket)}>`),
    thingOf: (subject) => {
      const [tenant, jobId, attachment, ...rest] = nameOfObject(bucket, subject).split(".");
      return tenant && jobId && attachment && rest.length === 0 ? { job: { tenant, jobId }, attachment } : null;
    },
  };
}

const sweeperOf = (stream: string, filterSubject: string | null): DurableConsumer => ({
  stream,
  name: "sweeper",
  filterSubject,
  ackWaitMs: comesBackAfterMs,
  headersOnly: true,
});

const millisOf = (message: Msg): number => Number(storedAtOf(message)) / 1e6;

/** Of those that come again, the number of messages that are pending says nothing. */
function isLast(message: Msg): boolean {
  const { pending, deliveries } = deliveryOf(message);
  return pending === 0 && deliveries === 1;
}

/** The messages that a consumer has now, without waiting for more. */
async function nextAtOnce(connection: JetStreamConnection, { stream, name }: DurableConsumer): Promise<readonly Msg[]> {
  const { nats } = connection;
  const inbox = createInbox();
  const messages: Msg[] = [];
  return await asking(
    connection,
    () =>
      new Promise((resolve) => {
        const subscription = nats.subscribe(inbox, {
          callback: (_, message) => {
            if (!isStatus(message)) messages.push(message);
            timer.refresh();
            if (isStatus(message) || messages.length === atOnce || isLast(message)) done();
          },
        });
        const done = (): void => {
          clearTimeout(timer);
          if (!nats.isClosed()) subscription.unsubscribe();
          resolve(messages);
        };
        const timer = setTimeout(done, silenceMs);
        nats.publish(nextMessages(stream, name), JSON.stringify({ batch: atOnce, no_wait: true }), { reply: inbox });
      }),
  );
}
