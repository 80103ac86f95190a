import { Type } from "typebox";
import { scopes } from "../../access/key-ring.ts";
import { type JobStatus, jobStatuses } from "../../domain/job/job-view.ts";
import { mailGroupings } from "../../domain/recipients/mail-counts.ts";
import { count, instant, named, ordinal, orNull, pageOf, recordOf, text } from "./parts.ts";
import { throttle } from "./throttles.ts";

const waiting = named("Waiting", { jobs: count, oldestAgeSeconds: orNull(Type.Number({ minimum: 0 })) });
const rate = Type.Number({ minimum: 0 });
const rates = named("RatesPerMinute", {
  jobsCreated: rate,
  jobsCompleted: rate,
  jobsFailed: rate,
  jobsCancelled: rate,
  mailsSent: rate,
  mailsFailed: rate,
  mailsUnknown: rate,
  mailsSuppressed: rate,
  mailsBounced: rate,
  mailsComplained: rate,
});
const share = orNull(Type.Number({ minimum: 0, maximum: 1 }));
const lag = named("ProjectionLag", { sequence: count, lagEvents: orNull(count), lagSeconds: orNull(rate) });

const ofStatuses = Object.fromEntries(jobStatuses.map((status) => [status, count])) as Record<JobStatus, typeof count>;

export const stats = named("Stats", {
  at: instant,
  jobs: Type.Object(ofStatuses),
  waiting: Type.Object({ high: waiting, normal: waiting, low: waiting }),
  perMinute: Type.Object({ last5Minutes: rates, last60Minutes: rates }),
  failureRate: orNull(Type.Object({ jobs: share, mails: share })),
  /** Of the mails sent within the last hour, as far as reports came back in it: about mails sent then or before. */
  bounceRate: share,
  complaintRate: share,
  throttles: orNull(
    Type.Object(
      { total: count, slowest: Type.Array(throttle) },
      {
        description:
          "Receivers of mail that have asked for patience, of all tenants; an operator is told the slowest by name. Null where that is not known now.",
      },
    ),
  ),
  projections: recordOf(lag),
});

const point = named("StatsPoint", {
  at: instant,
  jobsCreated: count,
  jobsCompleted: count,
  jobsFailed: count,
  jobsCancelled: count,
  mailsSent: count,
  mailsFailed: count,
  mailsUnknown: count,
  mailsSuppressed: count,
  mailsBounced: count,
  mailsComplained: count,
});

/** Every step has a point, one without events too: the first is at `from`, and the last may be still going on. */
export const statsSeries = Type.Object(
  { from: instant, to: instant, stepSeconds: ordinal, points: Type.Array(point) },
  {
    title: "StatsSeries",
    examples: [
      {
        from: "2026-11-21T09:30:00.000Z",
        to: "2026-11-21T09:31:00.000Z",
        stepSeconds: 60,
        points: [
          {
            at: "2026-11-21T09:30:00.000Z",
            jobsCreated: 2,
            jobsCompleted: 1,
            jobsFailed: 0,
            jobsCancelled: 0,
            mailsSent: 1200,
            mailsFailed: 3,
            mailsUnknown: 0,
            mailsSuppressed: 1,
            mailsBounced: 0,
            mailsComplained: 0,
          },
        ],
      },
    ],
  },
);

const mailCounts = { sent: count, deferred: count, failed: count, bounced: count, complained: count };

export const mailRates = named("MailRates", {
  by: Type.Enum([...mailGroupings]),
  /** The beginning of an hour. */
  from: instant,
  to: instant,
  rates: Type.Array(
    named("MailRate", {
      /** A domain or the name of a route; `default` for the usual sender or route, and `*` for all others together. */
      name: text,
      ...mailCounts,
      failureRate: share,
      bounceRate: share,
      complaintRate: share,
    }),
  ),
  /** The hours in which something happened, where one name was asked for. */
  points: orNull(Type.Array(named("MailRatePoint", { at: instant, ...mailCounts }))),
});

const seal = named("Seal", {
  sequence: ordinal,
  sealedAt: instant,
  from: ordinal,
  to: ordinal,
  count: ordinal,
  root: text,
  previous: orNull(text),
  digest: text,
  keyId: text,
  publicKey: text,
  signature: text,
});

export const sealPage = pageOf("SealPage", seal);
export const sealKey = named("SealKey", {
  keyId: text,
  algorithm: Type.Literal("Ed25519"),
  publicKey: text,
  pem: text,
});

export const caller = named("Caller", { tenant: text, actor: text, scopes: Type.Array(Type.Enum([...scopes])) });

export const alive = named("Alive", { alive: Type.Literal(true) });

/** The other fields of a dependency vary with the dependency. */
const dependency = Type.Unsafe<{ status: "up" | "degraded" | "down"; needed: boolean; [name: string]: unknown }>(
  Type.Object(
    { status: Type.Enum(["up", "degraded", "down"]), needed: Type.Boolean() },
    { title: "Dependency", additionalProperties: true },
  ),
);

export const dependencies = recordOf(dependency);
export const readiness = named("Readiness", { ready: Type.Literal(true), dependencies });

export const caughtMails = Type.Array(
  named("CaughtMail", { id: text, receivedAt: instant, from: text, to: Type.Array(text), subject: text }),
);
