import { RequestStrategy } from "nats";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { startOf } from "../nats/names.ts";
import type { Membership, WorkerState } from "./membership.ts";

/** The wait for the first answer, and then for each next one: a worker that is busy with a mailing may be slow to answer. */
const maxWait = 1000;
const jitter = 300;

export function createJetStreamMembership(connection: JetStreamConnection, prefix: string): Membership {
  const { nats } = connection;
  const subject = `${startOf(prefix)}waybill.workers`;
  return {
    answer: (state) => {
      const subscription = nats.subscribe(subject, {
        callback: (_, message) => message.respond(JSON.stringify(state())),
      });
      return () => {
        if (!nats.isClosed()) subscription.unsubscribe();
      };
    },
    call: () =>
      asking(connection, async () => {
        const found: WorkerState[] = [];
        const answers = await nats.requestMany(subject, "", { strategy: RequestStrategy.JitterTimer, maxWait, jitter });
        // Where no worker listens, the server's own answer is empty.
        for await (const answer of answers) if (answer.data.length > 0) found.push(answer.json<WorkerState>());
        return found.sort((one, other) => one.name.localeCompare(other.name));
      }),
  };
}
