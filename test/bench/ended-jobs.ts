import type { Msg } from "nats";
import { subjectsOfDecisions } from "../../src/event-log/subjects.ts";
import type { Deployment } from "./deployment.ts";
import type { Stage } from "./row.ts";

/** Waits for so many more jobs to have completed; throws when one ended otherwise, or left out a recipient. */
export type EndedJobs = (jobs: number) => Promise<void>;

/** Listens to the log as it is written, which costs the service nothing. */
export async function watchEndedJobs({ ground, lifecycle }: Stage, { surroundings }: Deployment): Promise<EndedJobs> {
  const nats = await ground.connectNats(lifecycle);
  let completed = 0;
  let expected = 0;
  let wrong: string | null = null;
  let look = (): void => {};
  nats.subscribe(subjectsOfDecisions(surroundings.nats.prefix), {
    callback: (_, message) => {
      for (const { type, data } of readEvents(message)) {
        if (type === "JobCompleted" && data.counts.sent === data.counts.total) completed += 1;
        else if (type === "JobCompleted" || type === "JobFailed" || type === "JobRetryScheduled") {
          wrong ??= `${type}: ${JSON.stringify(data)}`;
        }
      }
      look();
    },
  });
  await nats.flush();
  return (jobs) => {
    expected += jobs;
    const allCompleted = new Promise<void>((resolve, reject) => {
      look = () => {
        if (wrong !== null) reject(new Error(`A job did not mail every recipient at the first attempt: ${wrong}`));
        else if (completed >= expected) resolve();
      };
      look();
    });
    // The failure reaches a waiting caller; it must not end a caller that gave up before.
    allCompleted.catch(() => {});
    return allCompleted;
  };
}

type Event = {
  readonly type: string;
  readonly data: { readonly counts: { readonly sent: number; readonly total: number } };
};

/** A message holds one event or several. */
const readEvents = (message: Msg): readonly Event[] =>
  [JSON.parse(Buffer.from(message.data).toString()) as Event | readonly Event[]].flat();
