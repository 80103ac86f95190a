import { setTimeout as pause } from "node:timers/promises";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, type JetStreamConnection } from "./connection.ts";
import { askJetStream, expectedBefore, messageAt, nextMessageOf, type StreamMessage } from "./jetstream-api.ts";

/** How long a leader is asked again that lacks what another one had. */
const patienceMs = 1500;
const askAgainAfterMs = 100;

/** Most subjects have fewer messages: a look into a part that has none would be in vain. */
const readAlone = 16;
const partsAtOnce = 8;
/** A shorter part is not divided. */
const leastOfParts = 32;
const readBackAlone = 16;
/**
 * A longer history, such as the 300 decisions about a mailing of a million, is read on message by message where each takes
 * less than this: the 300 of a busy server take a second, most of it to load what it had put on disk. A node of a busy cluster
 * takes 30 ms for each.
 */
const slowMs = 10;
/**
 * There parts of the stream are searched for the rest, this many times as long as where the last ones were found: a search
 * from the beginning on would look at all that was logged before the mailing. A server that is quick, and busy, would search
 * longer than it answers one by one.
 */
const searchedTimes = 4;
/** In messages of the stream. What is spread more thinly is read message by message: a search would read the files of days. */
const mostSearched = 50_000;

/**
 * Messages of one subject, each asked for by itself: no consumer is made, which would cost the server more the larger the
 * stream is, and the leader answers, so that no replica lags behind. In a log of 1.5 million messages on 2.9.10, three
 * messages take 0.3 ms (5 where they are on disk), as long as a consumer takes to be made; 100 take 8 ms, and 100 more a
 * million messages later 11; a consumer is three times as fast from some hundred on. Of many messages, several parts are
 * read at a time: a worker that takes over a large mailing waits for each outcome that the log has, and a node of a busy
 * cluster takes 30 ms for an answer.
 *
 * Up to the message `last`, oldest first. Throws Unavailable rather than leave one out. Where many are expected, several
 * parts are read from the beginning on.
 */
export async function readOn(
  connection: JetStreamConnection,
  stream: string,
  subject: string,
  first: number,
  last: number,
  partsAtFirst = 1,
): Promise<StreamMessage[]> {
  const messages: StreamMessage[] = [];
  const parts: Promise<void>[] = [];
  let open = 0;
  let hasFailed = false;
  const next = async (from: number): Promise<StreamMessage | null> => {
    const get = () => nextMessageOf(connection, stream, subject, from);
    const found = await asking(connection, get);
    // The stream begins later, as below.
    if (found === null && last < (await firstSequenceOf(connection, stream))) return null;
    return found ?? (await untilThere(connection, `${subject} from ${from} on`, get));
  };
  const read = async (begin: number, end: number): Promise<void> => {
    let to = end;
    for (let from = begin; from <= to && !hasFailed; ) {
      const message = await next(from);
      if (message === null || message.sequence > to) return;
      messages.push(message);
      from = message.sequence + 1;
      if (messages.length < readAlone || open >= partsAtOnce || to - from < leastOfParts) continue;
      const middle = Math.floor((from + to) / 2);
      start(middle + 1, to);
      to = middle;
    }
  };
  const start = (begin: number, end: number): void => {
    open += 1;
    const part = read(begin, end).finally(() => {
      open -= 1;
    });
    part.catch(() => {
      hasFailed = true;
    });
    parts.push(part);
  };
  const length = Math.ceil((last - first + 1) / partsAtFirst);
  for (let from = first; from <= last; from += length) start(from, Math.min(last, from + length - 1));
  // Parts that are read start others.
  for (const part of parts) await part;
  return messages.sort((one, other) => one.sequence - other.sequence);
}

/**
 * The messages of a subject whose writers all name the message before theirs, up to `last`, oldest first; ends with the
 * first that is `enough`. Each names the one before it in a header, which the server has checked. Throws Unavailable
 * rather than leave one out.
 */
export async function readBack(
  connection: JetStreamConnection,
  stream: string,
  last: StreamMessage,
  isEnough?: (message: StreamMessage) => boolean,
): Promise<StreamMessage[]> {
  const messages = [last];
  const alone = { answers: 0, ms: 0 };
  const isSlow = (): boolean => alone.ms > slowMs * alone.answers;
  // The ones that are close together, without those behind a long pause, such as between an import and the start.
  let closeTogether = 0;
  for (let oldest = last; isEnough?.(oldest) !== true; ) {
    const before = expectedBefore(oldest);
    // Another program wrote it.
    if (before === null) {
      messages.push(...(await readOn(connection, stream, last.subject, 1, oldest.sequence - 1)).reverse());
      break;
    }
    if (before === 0) break;
    if (isEnough === undefined && messages.length - closeTogether >= readBackAlone && isSlow()) {
      const span = (messages[closeTogether] as StreamMessage).sequence - oldest.sequence;
      const from = Math.max(1, oldest.sequence - Math.min(searchedTimes * span, mostSearched));
      const found = before < from ? [] : await readOn(connection, stream, last.subject, from, before, partsAtOnce);
      if (found[0] !== undefined && areLinked([...found, oldest])) {
        oldest = found[0];
        messages.push(...found.reverse());
        continue;
      }
      // It is further away, or one is missing, which is waited for below.
      closeTogether = messages.length;
    }
    const get = () => messageAt(connection, stream, before);
    const askedAt = performance.now();
    const found = await asking(connection, get);
    alone.ms += performance.now() - askedAt;
    alone.answers += 1;
    // The stream begins later: what was before is in an archive, or was given up.
    if (found === null && before < (await firstSequenceOf(connection, stream))) break;
    oldest = found ?? (await untilThere(connection, `message ${before}`, get));
    messages.push(oldest);
  }
  return messages.reverse();
}

/** Whether each but the first names the one before it. */
const areLinked = (messages: readonly StreamMessage[]): boolean =>
  messages.every((message, index) => index === 0 || expectedBefore(message) === messages[index - 1]?.sequence);

async function untilThere(
  connection: JetStreamConnection,
  what: string,
  get: () => Promise<StreamMessage | null>,
): Promise<StreamMessage> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = await asking(connection, get);
    if (found !== null) return found;
    if (performance.now() >= deadline) throw new Unavailable(`NATS lacks ${what}, which was stored.`);
    await pause(askAgainAfterMs);
  }
}

/** What is before it is in an archive, or was given up. */
export const firstSequenceOf = async (connection: JetStreamConnection, stream: string): Promise<number> => {
  const asked = () => askJetStream<StreamBegin>(connection, `$JS.API.STREAM.INFO.${stream}`, "");
  return (await asking(connection, asked)).state.first_seq;
};

type StreamBegin = { readonly state: { readonly first_seq: number } };
