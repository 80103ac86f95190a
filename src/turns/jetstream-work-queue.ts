import type { Msg } from "nats";
import type { JobType } from "../domain/job/events.ts";
import { ensureTurnsStream } from "../event-log/jetstream-streams.ts";
import { streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { countOf, ensureDurable, onElections, onStreamMade } from "../nats/consumers.ts";
import { isStreamMissing } from "../nats/errors.ts";
import { sawStored } from "../nats/horizon.ts";
import { deliveryOf, storedAtOf } from "../nats/message.ts";
import { decodeTurn } from "./encode-turn.ts";
import { createLane, type Lane, type Taker } from "./jetstream-lane.ts";
import { serveLanes } from "./serve-lanes.ts";
import { consumerOf, laneFilter, lanesOf } from "./turn-subjects.ts";
import type { Handover, TurnDelivery, WorkQueue } from "./work-queue.ts";

const timeoutMs = 1500;
/**
 * For each turn that a worker has in hand, it leaves those that wait to the other workers for this long: an idle one needs
 * a millisecond or two to ask. Where turns go on waiting, all workers are busy, and it asks without delay.
 */
const leaveToOthersMs = 5;
const leftByAllAfterMs = 100;
/** A consumer is announced as led before its leader takes requests. */
const leadsAfterMs = 250;

export type WorkQueueSettings = {
  readonly prefix: string;
  readonly replicas: number;
  /** The kind of job: each kind has lanes of its own. */
  readonly type: JobType;
  /** How long a worker may stay silent before the queue hands its job to another one. */
  readonly ackWaitMs: number;
  /** See DurableConsumer; for tests. */
  readonly mostDelivered?: number;
};

/** One durable consumer for each lane. What was deleted, of consumers and stream, is made again. */
export function createJetStreamWorkQueue(
  connection: JetStreamConnection,
  { prefix, replicas, type, ...limits }: WorkQueueSettings,
  notice: (message: string) => void,
): WorkQueue {
  const { nats } = connection;
  const stream = streamName(prefix, "TURNS");
  let areThere = false;
  /** How often the stream was made, as far as it was heard. */
  let made = 0;
  let arrived: () => void = () => {};
  /** Since when there has always been a turn to take. */
  let backlogSince = Number.POSITIVE_INFINITY;
  const taker: Taker = {
    inHand: 0,
    room: 0,
    askAt: 0,
    isBehind: false,
    took: () => {
      const now = performance.now();
      taker.inHand += 1;
      backlogSince = Math.min(backlogSince, now);
      taker.isBehind = now - backlogSince > leftByAllAfterMs;
      taker.askAt = taker.isBehind ? 0 : now + taker.inHand * leaveToOthersMs;
    },
    arrived: () => arrived(),
    doubt: () => {
      areThere = false;
    },
  };
  const lanes = lanesOf(type).map((lane) => {
    const consumer = { stream, name: consumerOf(lane), filterSubject: laneFilter(prefix, lane), ...limits };
    return createLane(connection, consumer, taker);
  });

  const ensureConsumers = async (): Promise<void> => {
    if (areThere) return;
    const ensure = () => Promise.all(lanes.map(({ consumer }) => ensureDurable(connection, consumer)));
    await ensure().catch(async (failure: unknown) => {
      if (!isStreamMissing(failure)) throw failure;
      await ensureTurnsStream(connection, { prefix, replicas });
      await ensure();
    });
    areThere = true;
  };
  const toDelivery = (message: Msg): TurnDelivery[] => {
    const madeThen = made;
    const handover = handoverOf(connection, message, () => made === madeThen);
    try {
      const turn = decodeTurn(prefix, message.subject, message.string());
      // The worker needs a log that includes the decision: a turn is not over because a replica lags behind.
      sawStored(connection, streamName(prefix, "JOBS"), turn.after);
      return [{ ...handover, turn, putAtMs: Number(storedAtOf(message)) / nanosOf(1) }];
    } catch (failure) {
      notice(`A turn on ${message.subject} cannot be read and is dropped: ${String(failure)}`);
      handover.acknowledge();
      return [];
    }
  };
  const serve = serveLanes(
    lanes.map((lane) => ({ ...lane, take: async (limit: number) => (await lane.take(limit)).flatMap(toDelivery) })),
  );
  const askAgainInTime = (): void => {
    if (!lanes.some((lane) => lane.mayHaveWork())) {
      backlogSince = Number.POSITIVE_INFINITY;
      taker.isBehind = false;
    }
    const waitMs = taker.askAt - performance.now();
    if (taker.room > 0 && waitMs > 0) setTimeout(arrived, Math.ceil(waitMs)).unref();
  };

  return {
    take: (limit, inHand = 0) =>
      asking(connection, async () => {
        await ensureConsumers();
        taker.inHand = inHand;
        if (inHand === 0) taker.askAt = 0;
        const taken = await serve(limit);
        taker.room = limit - taken.length;
        askAgainInTime();
        return taken;
      }),
    waiting: () =>
      asking(connection, async () => {
        await ensureConsumers();
        const manager = await nats.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
        const counts = lanes.map(
          async ({ consumer }) => countOf((await manager.consumers.info(stream, consumer.name)).num_pending) ?? 0,
        );
        return (await Promise.all(counts)).reduce((sum, one) => sum + one, 0);
      }),
    onArrival: (heard) => {
      arrived = heard;
      const renew = (those: readonly Lane[]): void => {
        for (const lane of those) lane.renew();
        if (those.length > 0) arrived();
      };
      const stopListening = connection.onReconnect(() => {
        areThere = false;
        renew(lanes);
      });
      const stopWatching = onElections(connection, stream, (elected) => {
        const led = lanes.filter(({ consumer }) => consumer.name === elected);
        setTimeout(renew, leadsAfterMs, led).unref();
      });
      // NATS 2.9 loses a request with its stream, and says nothing to the worker that waits.
      const stopExpecting = onStreamMade(connection, stream, () => {
        areThere = false;
        made += 1;
        setTimeout(renew, leadsAfterMs, lanes).unref();
      });
      return () => {
        arrived = () => {};
        stopListening();
        stopWatching();
        stopExpecting();
        for (const lane of lanes) lane.close();
      };
    },
  };
}

/**
 * The first word that settles a message counts. A message of a stream that is gone has nothing to be said of: NATS 2.9
 * would take it for one of the new stream with the same number, and remove a turn that no worker has had.
 */
function handoverOf(connection: JetStreamConnection, message: Msg, isOfThisStream: () => boolean): Handover {
  let isSettled = false;
  const say = (word: string): void => {
    // A lost acknowledgement is harmless: the server then redelivers the message, as after any crash.
    if (!isSettled && message.reply && isOfThisStream()) connection.say(message.reply, word);
  };
  const settle = (word: string): void => {
    say(word);
    isSettled = true;
  };
  return {
    times: deliveryOf(message).deliveries,
    acknowledge: () => settle("+ACK"),
    keep: () => say("+WPI"),
    giveBack: (delayMs) => settle(`-NAK ${JSON.stringify({ delay: nanosOf(delayMs) })}`),
  };
}
