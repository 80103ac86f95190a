import fc from "fast-check";
import type { JobCommand } from "../../src/domain/job/commands.ts";
import { jobDecider } from "../../src/domain/job/decider.ts";
import type { JobEvent, Opening, Turn } from "../../src/domain/job/events.ts";
import type { EventOfJob } from "../../src/domain/job/job-view.ts";
import type { JobState } from "../../src/domain/job/state.ts";
import type { RecipientEvent } from "../../src/domain/recipients/events.ts";
import { channelOf } from "../../src/event-log/subjects.ts";
import * as example from "./examples.ts";

const { earlier, later, now } = example;

/** Of a job with three recipients; that of recipient 3 is an event of one it does not have. */
const recipient = fc.nat({ max: 3 });
const worker = fc.constantFrom("worker-1", "worker-2");
const instant = fc.constantFrom(earlier, now, later);
const instantOrNull = fc.constantFrom(null, null, null, earlier, later);

/** Mostly the turn that the job is in, sometimes one that is over or never was. */
const turnFor = fc
  .oneof(
    { weight: 4, arbitrary: fc.constant([0, 0] as const) },
    { weight: 1, arbitrary: fc.constantFrom([-1, 0] as const, [1, 0] as const, [0, -1] as const, [0, 1] as const) },
  )
  .map(
    ([runs, attempts]) =>
      ({ run, attempt }: Turn): Turn => ({
        run: Math.max(1, run + runs),
        attempt: Math.max(1, attempt + attempts),
      }),
  );

type Step = (turn: Turn & Opening) => JobCommand | RecipientEvent | EventOfJob;

const ask = fc.oneof(
  { weight: 6, arbitrary: fc.constant("start" as const) },
  { weight: 1, arbitrary: fc.constantFrom("release", "endTakeovers") },
  { weight: 8, arbitrary: fc.constantFrom("fail", "retry", "retryLater", "resume") },
  { weight: 3, arbitrary: fc.constantFrom("reschedule", "complete", "cancel", "pause", "requeue", "ignore") },
);

const command = fc.record({ at: instant, worker, turnFor, scope: fc.constantFrom("failed", "unknown", "unsent"), ask });

const commandStep: fc.Arbitrary<Step> = command.map(({ at, worker, turnFor, scope, ask }) => (turn) => {
  const lease = { at, worker, ...turnFor(turn) };
  switch (ask) {
    case "start":
      return example.startJob({ ...lease, opening: turn.opening });
    case "release":
      return example.releaseJob(lease);
    case "endTakeovers":
      return example.endTakeovers({ at, ...turnFor(turn), opening: turn.opening });
    case "complete":
      return example.completeJob(lease);
    case "fail":
      return example.failJob(lease);
    case "retryLater":
      return example.scheduleRetry(lease);
    case "cancel":
      return example.cancelJob({ at });
    case "retry":
      return example.retryJob({ at, scope });
    case "pause":
      return example.pauseJob({ at });
    case "resume":
      return example.resumeJob({ at });
    case "reschedule":
      return example.rescheduleJob({ at, scheduledAt: worker === "worker-1" ? later : null });
    case "requeue":
      return example.requeueDeadLetter({ at, run: lease.run });
    case "ignore":
      return example.ignoreDeadLetter({ at, run: lease.run });
  }
});

const factStep: fc.Arbitrary<Step> = fc
  .record({
    turnFor,
    recipient,
    claimed: fc.uniqueArray(recipient, { minLength: 1 }),
    fact: fc.constantFrom(
      "claimed",
      "released",
      "sent",
      "sent",
      "deferred",
      "failed",
      "failed",
      "unknown",
      "suppressed",
      "bounced",
      "complained",
    ),
  })
  .map(({ turnFor, recipient, claimed, fact }) => (turn) => {
    const data = { ...turnFor(turn), recipient };
    switch (fact) {
      case "claimed":
        return example.recipientsClaimed({ ...turnFor(turn), recipients: claimed });
      case "released":
        return example.recipientsReleased({ ...turnFor(turn), recipients: claimed });
      case "sent":
        return example.recipientSent(data);
      case "deferred":
        return example.recipientDeferred(data);
      case "failed":
        return example.recipientFailed(data);
      case "unknown":
        return example.recipientUnknown(data);
      case "suppressed":
        return example.recipientSuppressed(data);
      case "bounced":
        return example.recipientBounced({ recipient, bounce: claimed.length > 1 ? "hard" : "soft" });
      case "complained":
        return example.recipientComplained({ recipient });
    }
  });

const creation = fc
  .record({ scheduledAt: instantOrNull, notAfter: instantOrNull, maxAttempts: fc.integer({ min: 1, max: 3 }) })
  .map((settings) => example.createJob(settings));

const isCommand = (step: ReturnType<Step>): step is JobCommand => "settings" in step || !("data" in step);

/**
 * What the log may hold of one job: whatever was accepted of the commands of two workers and of people, and among it
 * facts about recipients by workers that hold the job, held it once, or never did.
 */
export const anyHistory: fc.Arbitrary<readonly EventOfJob[]> = fc
  .tuple(creation, fc.array(fc.oneof(commandStep, factStep), { maxLength: 40, size: "max" }))
  .map(([create, steps]) => {
    const history: EventOfJob[] = [];
    let state: JobState = jobDecider.initialState;
    for (const step of [() => create, ...steps]) {
      const said = step(state.status === "absent" ? { run: 1, attempt: 1, opening: 0 } : state);
      if (!isCommand(said)) {
        history.push(said);
        continue;
      }
      const decision = jobDecider.decide(said, state);
      if (decision.outcome === "rejected") continue;
      history.push(...decision.events);
      state = decision.events.reduce(jobDecider.evolve, state);
    }
    return history;
  });

export const isDecision = (event: EventOfJob): event is JobEvent => channelOf(event) === "job";
