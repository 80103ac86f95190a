import { createInbox, type Msg } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, type JetStreamConnection, nanosOf } from "./connection.ts";
import { expectCount } from "./consumers.ts";
import { isClustered } from "./horizon.ts";
import { lastMessageOf } from "./jetstream-api.ts";
import { isStatus, placeOf } from "./message.ts";

type Created = {
  readonly name?: string;
  readonly num_pending?: number;
  readonly delivered?: { readonly consumer_seq: number };
  readonly error?: { readonly description: string };
};

/** A message that the server has announced but that does not arrive within this time will not arrive. */
const silenceMs = 1500;
/**
 * How long a replica that has delivered all its messages, but fewer than the leader has, may wait for those in
 * replication.
 */
const lagMs = 150;
/** How long other replicas are tried. */
const patienceMs = 1500;
/** In a cluster a consumer may be placed on a frozen server: another one is requested well before the deadline. */
const otherReplicaAfterMs = 500;

/**
 * All messages of one subject, oldest first, up to its last one according to the leader; a caller that knows that
 * sequence passes it as `last`. An ephemeral consumer that pushes them costs one round trip, and with an exact subject
 * no scan: a wildcard over the job's subjects took 75 ms in a log of 300,000 messages on 2.9.
 *
 * A cluster places such a consumer on any of its servers, also on one that was wiped or frozen and lags behind: 3 of 14
 * reads returned nothing of 20 acknowledged events. So a history that does not reach the leader's last message is
 * rejected and read again, perhaps from another server; at the deadline it becomes Unavailable.
 */
export async function readSubject(
  connection: JetStreamConnection,
  stream: string,
  subject: string,
  last?: number,
): Promise<Msg[]> {
  const reach = last ?? (await asking(connection, () => lastMessageOf(connection, stream, subject)))?.sequence ?? 0;
  if (reach === 0) return [];
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await readUpTo(connection, stream, subject, reach);
    } catch (failure) {
      const isElsewhere = failure instanceof Behind || (failure instanceof Unavailable && isClustered(connection));
      if (!isElsewhere || performance.now() >= deadline) throw failure;
    }
  }
}

/** A replica does not yet have everything that the leader has. */
class Behind extends Unavailable {}

async function readUpTo(
  connection: JetStreamConnection,
  stream: string,
  subject: string,
  last: number,
): Promise<Msg[]> {
  const { nats } = connection;
  const inbox = createInbox();
  const messages: Msg[] = [];
  let owed = Number.POSITIVE_INFINITY;
  let consumer: string | null = null;
  let settle: (failure?: Error) => void = () => {};
  const complete = new Promise<void>((resolve, reject) => {
    settle = (failure) => (failure ? reject(failure) : resolve());
  });
  // It may fail before any code awaits it; an unhandled rejection would end the process.
  complete.catch(() => {});
  let lag: NodeJS.Timeout | null = null;
  const timer = setTimeout(() => settle(new Unavailable(`NATS stopped in the middle of ${subject}.`)), silenceMs);
  const look = (): void => {
    const newest = messages.at(-1);
    if (newest !== undefined && placeOf(newest).streamSequence >= last) settle();
    else if (messages.length >= owed) {
      lag ??= setTimeout(
        () => settle(new Behind(`A replica of ${stream} does not yet have all messages of ${subject}.`)),
        lagMs,
      );
    }
  };
  const subscription = nats.subscribe(inbox, {
    callback: (_, message) => {
      if (isStatus(message)) return;
      messages.push(message);
      timer.refresh();
      if (placeOf(message).consumerSequence !== messages.length) settle(new Unavailable("NATS dropped a message."));
      look();
    },
  });
  try {
    ({ owed, consumer } = await createPushConsumer(connection, stream, subject, inbox));
    look();
    await complete;
    return messages;
  } finally {
    clearTimeout(timer);
    if (lag !== null) clearTimeout(lag);
    subscription.unsubscribe();
    if (consumer !== null) dropConsumer(connection, stream, consumer);
  }
}

/**
 * Runs in the background: the server would drop the consumer anyway, but hundreds of reads a second would leave
 * thousands of them.
 */
function dropConsumer({ nats, isUp }: JetStreamConnection, stream: string, consumer: string): void {
  if (isUp()) nats.request(`$JS.API.CONSUMER.DELETE.${stream}.${consumer}`, "", { timeout: silenceMs }).catch(() => {});
}

/** Returns how many messages its replica has for it, and which consumer they come from. */
async function createPushConsumer(
  connection: JetStreamConnection,
  stream: string,
  subject: string,
  inbox: string,
): Promise<{ readonly owed: number; readonly consumer: string | null }> {
  const request = {
    stream_name: stream,
    config: {
      deliver_subject: inbox,
      deliver_policy: "all",
      ack_policy: "none",
      max_deliver: 1,
      filter_subject: subject,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanosOf(5000),
    },
  };
  const timeout = isClustered(connection) ? otherReplicaAfterMs : silenceMs;
  const answer = await asking(connection, () =>
    connection.nats.request(`$JS.API.CONSUMER.CREATE.${stream}`, JSON.stringify(request), { timeout }),
  );
  const created = answer.json<Created>();
  if (created.error) throw new Unavailable(`NATS refused to read ${subject}: ${created.error.description}`);
  // Some of them may be in flight already when the server counts the rest.
  const owed = expectCount(created.num_pending) + (created.delivered?.consumer_seq ?? 0);
  return { owed, consumer: created.name ?? null };
}
