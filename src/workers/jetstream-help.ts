import type { Msg } from "nats";
import type { JobType } from "../domain/job/events.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { startOf } from "../nats/names.ts";
import type { HelpAnswer, HelpExchange, HelpRequest, HelpWanted } from "./help.ts";

const timeoutMs = 1000;

export function createJetStreamHelp({ nats, say }: JetStreamConnection, prefix: string): HelpExchange {
  const start = startOf(prefix);
  const announcements = (type: JobType): string => `${start}waybill.help.${type.replace(".", "-")}`;
  const requestsTo = (worker: string): string => `${start}waybill.helped.${worker}`;
  const subscribe = (subject: string, heard: (message: Msg) => void) => {
    const subscription = nats.subscribe(subject, {
      callback: (failure, message) => {
        if (failure === null) heard(message);
      },
    });
    return () => {
      if (!nats.isClosed()) subscription.unsubscribe();
    };
  };
  return {
    announce: (type, wanted) => say(announcements(type), JSON.stringify(wanted)),
    onAnnounced: (type, heard) => subscribe(announcements(type), (message) => heard(message.json<HelpWanted>())),
    answerFor: (worker, answer) =>
      subscribe(requestsTo(worker), (message) => {
        message.respond(JSON.stringify(answer(message.json<HelpRequest>())));
      }),
    request: async (worker, request) => {
      try {
        return (
          await nats.request(requestsTo(worker), JSON.stringify(request), { timeout: timeoutMs })
        ).json<HelpAnswer>();
      } catch {
        // Where no worker listens, the server reports it at once.
        return null;
      }
    },
  };
}
