import type { JetStreamConnection } from "../../nats/connection.ts";
import { startOf } from "../../nats/names.ts";
import type { Announcements } from "./announcements.ts";

/** On plain NATS subjects: current subscribers receive it, and nothing is kept. */
export function createJetStreamAnnouncements(connection: JetStreamConnection, prefix: string): Announcements {
  const { nats } = connection;
  const start = startOf(prefix);
  const subjectOf = (projection: string): string => `${start}waybill.read.${projection}`;
  return {
    announce: (projection, sequence) => {
      if (connection.isUp()) nats.publish(subjectOf(projection), String(sequence));
    },
    listen: (projection, heard) => {
      const subscription = nats.subscribe(subjectOf(projection), {
        callback: (_, message) => heard(Number(message.string())),
      });
      return () => {
        if (!nats.isClosed()) subscription.unsubscribe();
      };
    },
  };
}
