import { Type } from "typebox";
import { scopes } from "../../access/key-ring.ts";
import { type JobStatus, jobStatuses } from "../../domain/job/job-view.ts";
import { count, instant, named, ordinal, orNull, pageOf, recordOf, text } from "./parts.ts";

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
  projections: recordOf(lag),
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
