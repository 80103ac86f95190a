import type { JobQueued, JobType } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";
import type { Lane as LaneName } from "../event-log/event-log.ts";
import { type Notice, readDelivery } from "../event-log/jetstream-durable.ts";
import { channelFilter, lanesOf, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { countOf, ensureDurable } from "../nats/consumers.ts";
import { createLane, type Lane } from "./jetstream-lane.ts";
import { serveLanes } from "./serve-lanes.ts";
import type { WorkQueue } from "./work-queue.ts";

const timeoutMs = 1500;
/** A consumer that was deleted, or that the server lost, is as silent as an empty one, so it is created anew this often. */
const seeLanesAgainMs = 5000;

export type WorkQueueSettings = {
  readonly prefix: string;
  /** The kind of job: each kind has lanes of its own. */
  readonly type: JobType;
  /** How long a worker may stay silent before the queue hands its job to another one. */
  readonly ackWaitMs: number;
};

/** `worker-normal`, and `worker-normal-crowd` behind it; `worker-normal-webhook-deliver` for another kind. */
const consumerOf = (lane: LaneName): string => lane.replace(/^queue/, "worker").replaceAll(".", "-");

/** One durable consumer per lane; a worker asks for a message only when a slot is free, so none waits prefetched. */
export function createJetStreamWorkQueue(
  connection: JetStreamConnection,
  { prefix, type, ackWaitMs }: WorkQueueSettings,
  notice: Notice,
): WorkQueue {
  const { nats } = connection;
  const stream = streamName(prefix, "JOBS");
  let arrived: () => void = () => {};
  let lanesSeenAt = Number.NEGATIVE_INFINITY;
  const lanes: readonly Lane[] = lanesOf(type).map((name) =>
    createLane(
      connection,
      name,
      { stream, name: consumerOf(name), filterSubject: channelFilter(prefix, name), ackWaitMs },
      () => arrived(),
    ),
  );

  let inHandNow = 0;

  const takeFrom = async (lane: Lane, limit: number): Promise<Delivery<JobQueued>[]> => {
    for (;;) {
      const messages = await lane.take(limit, inHandNow);
      const deliveries = messages.flatMap(
        (message) => readDelivery<JobQueued>(connection, prefix, message, notice) ?? [],
      );
      inHandNow += deliveries.length;
      if (deliveries.length > 0 || messages.length === 0) return deliveries;
    }
  };
  const serve = serveLanes(lanes.map((lane) => ({ ...lane, take: (limit: number) => takeFrom(lane, limit) })));
  const hint = (lane: Lane): void => {
    lane.hint();
    arrived();
  };

  const ensureLanes = async (): Promise<void> => {
    if (performance.now() - lanesSeenAt < seeLanesAgainMs) return;
    await Promise.all(lanes.map(({ consumer }) => ensureDurable(connection, consumer)));
    lanesSeenAt = performance.now();
  };

  return {
    take: (limit, inHand = 0) =>
      asking(connection, async () => {
        await ensureLanes();
        inHandNow = inHand;
        try {
          return await serve(limit);
        } catch (failure) {
          lanesSeenAt = Number.NEGATIVE_INFINITY;
          throw failure;
        }
      }),
    waiting: () =>
      asking(connection, async () => {
        await ensureLanes();
        const manager = await nats.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
        // A count below zero means that none waits.
        const pending = lanes.map(
          async ({ consumer }) => countOf((await manager.consumers.info(stream, consumer.name)).num_pending) ?? 0,
        );
        return (await Promise.all(pending)).reduce((sum, one) => sum + one, 0);
      }),
    onArrival: (heard) => {
      arrived = heard;
      const subscriptions = lanes.map((lane) =>
        nats.subscribe(channelFilter(prefix, lane.name), { callback: () => hint(lane) }),
      );
      const stopListening = connection.onReconnect(() => {
        for (const lane of lanes) lane.reconnected();
        arrived();
      });
      return () => {
        arrived = () => {};
        stopListening();
        for (const lane of lanes) lane.close();
        if (!nats.isClosed()) for (const subscription of subscriptions) subscription.unsubscribe();
      };
    },
  };
}
