import { RequestStrategy } from "nats";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isNobodyThere } from "../nats/errors.ts";
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
        try {
          const answers = await nats.requestMany(subject, "", {
            strategy: RequestStrategy.JitterTimer,
            maxWait,
            jitter,
          });
          for await (const answer of answers) if (answer.data.length > 0) found.push(answer.json<WorkerState>());
        } catch (failure) {
          // Where no worker listens, the server says so, and the client makes it a failure.
          if (!isNobodyThere(failure)) throw failure;
        }
        return found.sort((one, other) => one.name.localeCompare(other.name));
      }),
  };
}
