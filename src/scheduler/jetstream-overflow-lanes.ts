import { channelFilter, parseSubject, streamFilter } from "../event-log/subjects.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { parseTurnSubject } from "../turns/turn-subjects.ts";
import type { OverflowLanes } from "./overflow-lanes.ts";

/** Follows what any process publishes about turns and decisions; the subjects alone carry enough. */
export function listenToLanes(connection: JetStreamConnection, prefix: string, lanes: OverflowLanes): () => void {
  const { nats } = connection;
  const subscriptions = [
    nats.subscribe(channelFilter(prefix, "job"), {
      callback: (_, { subject }) => lanes.decided(parseSubject(prefix, subject)),
    }),
    nats.subscribe(streamFilter(prefix, "TURNS"), {
      callback: (_, { subject }) => lanes.put(parseTurnSubject(prefix, subject)),
    }),
  ];
  // A message that was missed meanwhile may have ended the wait of a turn.
  const stopListening = connection.onReconnect(lanes.forgetAll);
  return () => {
    stopListening();
    if (!nats.isClosed()) for (const subscription of subscriptions) subscription.unsubscribe();
  };
}
