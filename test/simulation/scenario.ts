import fc from "fast-check";
import type { OnUnknown, Priority, RetryScope } from "../../src/domain/job/events.ts";

/** How often each thing goes wrong, as probabilities, each time that it could. */
export type Faults = {
  readonly crashes: number;
  readonly freezes: number;
  readonly lostQuestions: number;
  readonly lostAnswers: number;
  readonly lateEffects: number;
  /** Acknowledgements, signs of life and hints. */
  readonly lostMessages: number;
  readonly lostProbes: number;
  readonly slowness: number;
  /** A turn is handed to two workers, or comes back although it was acknowledged. */
  readonly repeats: number;
  readonly refused: number;
  readonly deferred: number;
  readonly unavailable: number;
  /** The mail server takes a mail, or does not, and does not answer. */
  readonly unanswered: number;
  /** The mail server takes so long to answer that the queue may give up on the worker meanwhile. */
  readonly slowMails: number;
};

export type JobOfScenario = {
  readonly recipients: number;
  readonly priority: Priority;
  readonly maxAttempts: number;
  readonly retryDelayMs: number;
  readonly onUnknown: OnUnknown;
  readonly createdAfterMs: number;
  /** Null for a job that may start at once. */
  readonly startsAfterMs: number | null;
  /** Of the one group there is. */
  readonly isGrouped: boolean;
};

/** When the log has so many events, and a little later: so that what people do falls among what is going on. */
export type Moment = { readonly afterEvents: number; readonly delayMs: number };

export type Order = Moment & {
  readonly job: number;
  readonly type: "CancelJob" | "PauseJob" | "ResumeJob" | "RetryJob" | "RescheduleJob";
  readonly scope: RetryScope;
  /** For a job that is rescheduled; null for at once. */
  readonly startsAfterMs: number | null;
};

/** An address that its owner wants no more mail at. */
export type Unsubscription = Moment & { readonly job: number; readonly recipient: number };

/** While the mail server defers every recipient (451), a job is held back and let go on, or workers are replaced, one after the other. */
export type Unrest = Moment & {
  readonly job: number;
  readonly how: "pauses" | "restarts";
  /** After the mail server began with it. */
  readonly afterMs: number;
  readonly times: number;
  readonly everyMs: number;
};

/** A client that also creates a job with the key, or erases its content. It stands still before one of its steps. */
export type Rival = {
  readonly job: number;
  readonly does: "the same" | "another" | "erase";
  /** After the first request, which comes again and again until it is answered. */
  readonly afterMs: number;
  readonly standsBefore: number;
  readonly standsForMs: number;
};

/** What a history begins with; what happens in it, the seed decides. */
export type Scenario = {
  readonly faults: Faults;
  readonly jobs: readonly JobOfScenario[];
  readonly orders: readonly Order[];
  readonly workers: number;
  readonly schedulers: number;
  readonly concurrency: number;
  readonly connections: number;
  readonly batchDelayMs: number;
  /** Workers that are stopped as an operator does it, and started again. */
  readonly restarts: readonly Moment[];
  readonly logOutages: readonly Moment[];
  readonly mailOutages: readonly Moment[];
  /** When someone deletes the stream of turns. */
  readonly losses: readonly Moment[];
  readonly healedAfterMs: number;
  readonly unsubscriptions: readonly Unsubscription[];
  readonly unrest: readonly Unrest[];
  readonly rivals: readonly Rival[];
  /** A worker that begins to hand over a mail to this recipient dies of it. */
  readonly deadly: { readonly job: number; readonly recipient: number } | null;
};

/** Often never, so that every kind of fault is also seen without the others. */
const probability = (most: number) => fc.oneof(fc.constant(0), fc.double({ min: 0, max: most, noNaN: true }));
const within = (ms: number) => fc.integer({ min: 0, max: ms });

const faults: fc.Arbitrary<Faults> = fc.record({
  crashes: probability(0.015),
  freezes: probability(0.012),
  lostQuestions: probability(0.05),
  lostAnswers: probability(0.05),
  lateEffects: probability(0.03),
  lostMessages: probability(0.2),
  lostProbes: probability(0.3),
  slowness: probability(0.1),
  repeats: probability(0.2),
  refused: probability(0.3),
  deferred: probability(0.3),
  unavailable: probability(0.1),
  unanswered: probability(0.1),
  slowMails: probability(0.02),
});

const job: fc.Arbitrary<JobOfScenario> = fc.record({
  // Workers help each other only with the larger ones.
  recipients: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 9, max: 40 })),
  priority: fc.constantFrom("high", "normal", "low"),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  retryDelayMs: fc.integer({ min: 500, max: 10_000 }),
  onUnknown: fc.constantFrom("resend", "skip"),
  createdAfterMs: within(3000),
  startsAfterMs: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: within(8000) }),
  isGrouped: fc.boolean(),
});

const moment: fc.Arbitrary<Moment> = fc.record({ afterEvents: fc.nat({ max: 40 }), delayMs: within(150) });
const order: fc.Arbitrary<Order> = fc.record({
  job: fc.nat({ max: 2 }),
  type: fc.constantFrom("CancelJob", "PauseJob", "ResumeJob", "ResumeJob", "RetryJob", "RetryJob", "RescheduleJob"),
  scope: fc.constantFrom("failed", "unknown", "unsent"),
  startsAfterMs: fc.oneof(fc.constant(null), within(8000)),
  afterEvents: fc.nat({ max: 40 }),
  delayMs: within(150),
});
/** Held back, and let go on a moment later. */
const interruption = fc
  .record({ job: fc.nat({ max: 2 }), at: moment, forMs: within(150) })
  .map(({ job, at, forMs }) => [
    { job, type: "PauseJob", scope: "failed", startsAfterMs: null, ...at } as const,
    { job, type: "ResumeJob", scope: "failed", startsAfterMs: null, ...at, delayMs: at.delayMs + forMs } as const,
  ]);
const orders: fc.Arbitrary<readonly Order[]> = fc
  .tuple(fc.array(order, { maxLength: 4 }), fc.array(interruption, { maxLength: 1 }))
  .map(([single, double]) => [...single, ...double.flat()]);

const unsubscription: fc.Arbitrary<Unsubscription> = fc.record({
  job: fc.nat({ max: 2 }),
  recipient: fc.nat({ max: 7 }),
  afterEvents: fc.nat({ max: 40 }),
  delayMs: within(150),
});

const unrest: fc.Arbitrary<Unrest> = fc.record({
  job: fc.nat({ max: 2 }),
  how: fc.constantFrom("pauses", "restarts"),
  afterMs: within(250),
  times: fc.integer({ min: 1, max: 4 }),
  everyMs: fc.integer({ min: 100, max: 1500 }),
  afterEvents: fc.nat({ max: 25 }),
  delayMs: within(150),
});

const moments = (maxLength: number) => fc.array(moment, { maxLength });

const rival: fc.Arbitrary<Rival> = fc.record({
  job: fc.nat({ max: 2 }),
  does: fc.constantFrom("the same", "the same", "the same", "another", "erase"),
  afterMs: fc.oneof(within(5), within(5), within(20_000)),
  standsBefore: fc.nat({ max: 5 }),
  standsForMs: fc.oneof(within(5), within(60_000)),
});

const anyScenario: fc.Arbitrary<Scenario> = fc.record({
  faults,
  jobs: fc.array(job, { minLength: 1, maxLength: 3 }),
  orders,
  workers: fc.integer({ min: 1, max: 4 }),
  schedulers: fc.integer({ min: 1, max: 2 }),
  concurrency: fc.constantFrom(1, 5),
  connections: fc.integer({ min: 1, max: 4 }),
  batchDelayMs: fc.constantFrom(0, 0, 0, 200),
  restarts: moments(2),
  logOutages: moments(1),
  mailOutages: moments(1),
  losses: moments(1),
  healedAfterMs: within(40_000),
  unsubscriptions: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(unsubscription, { minLength: 1, maxLength: 4 }) },
  ),
  unrest: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(unrest, { minLength: 1, maxLength: 1 }) },
  ),
  rivals: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(rival, { minLength: 1, maxLength: 4 }) },
  ),
  deadly: fc.oneof(
    { weight: 9, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.record({ job: fc.nat({ max: 2 }), recipient: fc.nat({ max: 7 }) }) },
  ),
});

/**
 * Few large mailings and several workers, which share them. Fewer things go wrong each time that they could, as there are
 * more such times; turns come twice more often, so that a job is also taken up while helpers are at it.
 */
const sharedMailings: fc.Arbitrary<Scenario> = fc
  .record({
    any: anyScenario,
    jobs: fc.array(
      job.chain((one) => fc.integer({ min: 15, max: 60 }).map((recipients) => ({ ...one, recipients }))),
      { minLength: 1, maxLength: 2 },
    ),
    rare: fc.record({
      crashes: probability(0.003),
      freezes: probability(0.002),
      refused: probability(0.05),
      deferred: probability(0.03),
      unavailable: probability(0.005),
      unanswered: probability(0.02),
      repeats: probability(0.6),
      slowMails: probability(0.05),
    }),
    workers: fc.integer({ min: 2, max: 4 }),
    connections: fc.integer({ min: 1, max: 3 }),
    interruptions: fc.array(
      fc.record({
        job: fc.nat({ max: 1 }),
        type: fc.constantFrom("CancelJob", "PauseJob", "ResumeJob", "ResumeJob"),
        scope: fc.constant("failed"),
        startsAfterMs: fc.constant(null),
        afterEvents: fc.nat({ max: 120 }),
        delayMs: within(150),
      }),
      { maxLength: 3 },
    ),
    restarts: fc.array(fc.record({ afterEvents: fc.nat({ max: 120 }), delayMs: within(150) }), { maxLength: 3 }),
  })
  .map(({ any, rare, interruptions, ...others }) => ({
    ...any,
    ...others,
    faults: { ...any.faults, ...rare },
    orders: [...any.orders, ...interruptions] as readonly Order[],
    batchDelayMs: 0,
    deadly: null,
  }));

function sampleOf(arbitrary: fc.Arbitrary<Scenario>, seed: number): Scenario {
  const [scenario] = fc.sample(arbitrary, { seed, numRuns: 1 });
  if (scenario === undefined) throw new Error(`Seed ${seed} gives no scenario`);
  return scenario;
}

/** The same for the same seed, with the same version of fast-check. */
export const scenarioOf = (seed: number): Scenario => sampleOf(anyScenario, seed);

/** As `scenarioOf`, of large mailings that workers share. */
export const sharedScenarioOf = (seed: number): Scenario => sampleOf(sharedMailings, seed);
