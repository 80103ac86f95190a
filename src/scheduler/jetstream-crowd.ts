import { channelFilter, lanesFilter, parseSubject } from "../event-log/subjects.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import type { Crowd } from "./crowd.ts";

/** Tells a crowd what goes over the wire, whichever process said it: the subjects say enough. */
export function listenToCrowd(connection: JetStreamConnection, prefix: string, crowd: Crowd): () => void {
  const { nats } = connection;
  const subscriptions = [
    nats.subscribe(channelFilter(prefix, "job"), {
      callback: (_, { subject }) => crowd.decided(parseSubject(prefix, subject)),
    }),
    nats.subscribe(lanesFilter(prefix), {
      callback: (_, { subject }) => {
        const job = parseSubject(prefix, subject);
        if (job.channel !== null) crowd.queued(job, job.channel.replace(/\.crowd$/, ""));
      },
    }),
  ];
  // What was missed meanwhile may be that somebody waits no longer.
  const stopListening = connection.onReconnect(crowd.forgetAll);
  return () => {
    stopListening();
    if (!nats.isClosed()) for (const subscription of subscriptions) subscription.unsubscribe();
  };
}
