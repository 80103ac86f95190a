import type { JobQueued, Priority } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";
import { asking, type JetStreamConnection } from "../event-log/jetstream-connection.ts";
import {
  type DurableConsumer,
  ensureDurable,
  type Notice,
  nextMessages,
  readDelivery,
} from "../event-log/jetstream-durable.ts";
import { isStatus } from "../event-log/jetstream-message.ts";
import { channelFilter, streamName } from "../event-log/subjects.ts";
import type { WorkQueue } from "./work-queue.ts";

const highestFirst: readonly Priority[] = ["high", "normal", "low"];
const timeoutMs = 1500;

export type WorkQueueSettings = {
  readonly prefix: string;
  /** How long a worker may stay silent before its job is handed to another one. */
  readonly ackWaitMs: number;
};

/** One durable consumer a priority; a message is asked for only when a slot is free, so nothing waits prefetched. */
export function createJetStreamWorkQueue(
  connection: JetStreamConnection,
  { prefix, ackWaitMs }: WorkQueueSettings,
  notice: Notice,
): WorkQueue {
  const { nats } = connection;
  const stream = streamName(prefix, "JOBS");
  const lanes: readonly DurableConsumer[] = highestFirst.map((priority) => ({
    stream,
    name: `worker-${priority}`,
    filterSubject: channelFilter(prefix, `queue.${priority}`),
    ackWaitMs,
  }));
  let areLanesThere = false;

  const takeFrom = async (lane: DurableConsumer): Promise<Delivery<JobQueued> | null> => {
    for (;;) {
      // Delivered messages keep the subject of the stream, by which the client's shared inbox could not tell them apart.
      const message = await nats.request(nextMessages(stream, lane.name), '{"batch":1,"no_wait":true}', {
        timeout: timeoutMs,
        noMux: true,
      });
      if (isStatus(message)) return null;
      const delivery = readDelivery<JobQueued>(connection, prefix, message, notice);
      if (delivery !== null) return delivery;
    }
  };

  return {
    take: () =>
      asking(connection, async () => {
        if (!areLanesThere) {
          for (const lane of lanes) await ensureDurable(connection, lane);
          areLanesThere = true;
        }
        try {
          for (const lane of lanes) {
            const delivery = await takeFrom(lane);
            if (delivery !== null) return delivery;
          }
          return null;
        } catch (failure) {
          // A consumer that was deleted, or that the server lost, does not answer either: look next time.
          areLanesThere = false;
          throw failure;
        }
      }),
    onArrival: (arrived) => {
      const queues = channelFilter(prefix, "queue.normal").replace(/normal$/, "*");
      const subscription = nats.subscribe(queues, { callback: arrived });
      const stopListening = connection.onReconnect(arrived);
      return () => {
        stopListening();
        if (!nats.isClosed()) subscription.unsubscribe();
      };
    },
  };
}
