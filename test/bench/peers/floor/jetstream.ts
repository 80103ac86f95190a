import { connect, createInbox, headers, type Msg, type MsgHdrs, type NatsConnection } from "nats";

export type NatsServer = { readonly servers: readonly string[]; readonly user: string; readonly password: string };

export const connectTo = ({ servers, user, password }: NatsServer): Promise<NatsConnection> =>
  connect({ servers: [...servers], user, pass: password });

/** The streams: entries of jobs, what is sent and to whom, and turns that wait for a worker. */
export const streams = { entries: "FLOOR_JOBS", contents: "FLOOR_CONTENT", turns: "FLOOR_TURNS" } as const;

export const subjects = {
  entriesOf: (jobId: string): string => `floor.jobs.${jobId}`,
  contentOf: (jobId: string): string => `floor.content.${jobId}`,
  turnOf: (jobId: string): string => `floor.turns.${jobId}`,
};

/** By the sequence of the entry before on the same subject; 0 for the first one. */
export function guardedBy(sequence: number): MsgHdrs {
  const guard = headers();
  guard.append("Nats-Expected-Last-Subject-Sequence", String(sequence));
  return guard;
}

type Ask = (subject: string, data: string, guard?: MsgHdrs) => Promise<Msg>;

/**
 * Requests with one subscription for all answers, and without a timer for each. Those of one turn of the event loop leave
 * in one write, which costs more than they do.
 */
export function createAsk(nats: NatsConnection): Ask {
  const inbox = createInbox();
  const waiting = new Map<string, (answer: Msg) => void>();
  let outgoing: (() => void)[] = [];
  let asked = 0;
  const flush = (): void => {
    const batch = outgoing;
    outgoing = [];
    for (const send of batch) send();
  };
  nats.subscribe(`${inbox}.*`, {
    callback: (_, answer) => {
      waiting.get(answer.subject)?.(answer);
      waiting.delete(answer.subject);
    },
  });
  return (subject, data, guard) =>
    new Promise((resolve) => {
      asked += 1;
      const reply = `${inbox}.${asked}`;
      waiting.set(reply, resolve);
      if (outgoing.length === 0) setImmediate(flush);
      outgoing.push(() => nats.publish(subject, data, guard === undefined ? { reply } : { reply, headers: guard }));
    });
}

/** Answers the sequence once the message is stored. */
export async function store(ask: Ask, subject: string, data: string, guard?: MsgHdrs): Promise<number> {
  const { seq, error } = JSON.parse((await ask(subject, data, guard)).string());
  if (seq === undefined) throw new Error(`${subject} could not be stored: ${JSON.stringify(error)}`);
  return seq;
}

/** The last message on a subject, as the server has it: without JSON around it. */
export const readLast = (ask: Ask, stream: string, subject: string): Promise<Msg> =>
  ask(`$JS.API.DIRECT.GET.${stream}.${subject}`, "");

const expiresNanos = 600_000_000_000;

/** Keeps so many messages of a consumer asked for; `take` gets each as it comes. Calling `more` asks for the next ones. */
export function pull(nats: NatsConnection, stream: string, consumer: string, take: (message: Msg) => void) {
  const inbox = createInbox();
  nats.subscribe(inbox, { callback: (_, message) => take(message) });
  return {
    more: (batch: number): void => {
      const request = JSON.stringify({ batch, expires: expiresNanos });
      nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: inbox });
    },
  };
}
