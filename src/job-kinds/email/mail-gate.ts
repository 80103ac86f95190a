import type { JobError, JobSettings } from "../../domain/job/events.ts";
import type { Instant } from "../../domain/message.ts";
import { addressOf } from "../../domain/recipients/address.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import type { JobRoutes } from "../../mail/routes/job-routes.ts";
import type { MailRouting } from "../../mail/routes/mail-routing.ts";
import { type Gate, notNow, type WorkerView } from "../../workers/job-work.ts";
import type { Mailing } from "./mailing.ts";

/**
 * While all mail routes are away and fewer turns than this wait, they are tried by their schedule, one after the other,
 * with mails that the breaker counts: so a lone job comes to an end that its owner hears of. More turns wait untouched.
 */
const mostWaitingToTry = 5;
/** Counting asks NATS about each lane, and every worker does so while the routes are away. */
const countAgainAfterMs = 5000;

type GatedRouting = Pick<MailRouting, "onChange" | "start" | "stop" | "state" | "standing">;

/** Takes turns as long as one route can be used: a job that needs another one waits by itself. */
export function createMailGate(routing: GatedRouting, worker: WorkerView): Gate {
  let countAt = Number.NEGATIVE_INFINITY;
  const doManyWait = async (): Promise<boolean> => {
    if (performance.now() < countAt) return true;
    const doThey = (await worker.waiting()) >= mostWaitingToTry;
    if (doThey) countAt = performance.now() + countAgainAfterMs;
    return doThey;
  };
  routing.onChange(worker.lookForWork);
  return {
    start: routing.start,
    stop: routing.stop,
    mayTake: async () => {
      if (routing.state() !== "closed") return "mail-server-away";
      switch (routing.standing()) {
        case "unknown":
          return "mail-server-away";
        case "away":
          if (worker.busy() > 0) return 0;
          return (await doManyWait()) ? "mail-server-away" : 1;
        case "lets-in":
          return worker.busy() === 0 ? 1 : 0;
        case "answers":
          return Number.POSITIVE_INFINITY;
      }
    },
  };
}

/**
 * The routes of a job, or why it fails. A route that this process does not know may have been added a moment ago, and one
 * that it cannot read may carry the job. A job whose time is over is begun all the same, as it then ends.
 */
export async function joinRoutes(
  routing: MailRouting,
  { tenant }: JobRef,
  { route, notAfter }: JobSettings,
  { letters }: Mailing,
): Promise<JobRoutes | JobError | typeof notNow> {
  const routes = routing.join({ tenant, sender: addressOf(letters.letter.from), route: route ?? null });
  let whyNot = routes.whyNotBegin();
  if (whyNot === "no-route") {
    await routing.refresh();
    whyNot = routes.whyNotBegin();
  }
  if (whyNot === null || isPast(notAfter)) return routes;
  if (whyNot === "away" || !routing.knowsAll()) return notNow;
  const which = route === undefined ? "No mail route" : `The mail route ${route} does not exist, or`;
  return { code: "no-route", message: `${which} may carry mails of this tenant and this sender.` };
}

export const isPast = (time: Instant | null): boolean => time !== null && Date.parse(time) < Date.now();
