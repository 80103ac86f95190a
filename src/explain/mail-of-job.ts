import type { JobContent } from "../content/content-store.ts";
import type { JobEvent, JobSettings } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import { isSettled } from "../domain/recipients/ledger.ts";
import { type Providers, receiverOf } from "../domain/throttles/providers.ts";
import type { ThrottledReceiver } from "../domain/throttles/throttle.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";
import type { WorkerState } from "../workers/membership.ts";
import { replayLedger } from "../workers/turn.ts";

/** A receiver that has asked for patience. */
export type SlowedReceiver = {
  readonly receiver: string;
  readonly perMinute: number;
  readonly since: Instant;
  /** Until when it gets no mail at all; null if it gets some now. */
  readonly pausedUntil: Instant | null;
  /** The codes of its last answer: the text may be about the mail of another tenant. */
  readonly answer: string;
};

/** By what its mails go, and what holds them up. */
export type MailOfJob = {
  /** The receivers of recipients that have no outcome yet, the slowest first. */
  readonly slowed: readonly SlowedReceiver[];
  /** The mail routes that may carry its mails; empty where no one had to know. */
  readonly routes: readonly string[];
};

export type MailSources = {
  readonly log: Pick<EventLog, "readRecipients">;
  /** Null once the content is erased. */
  readonly content: (job: JobRef) => Promise<JobContent | null>;
  readonly throttles: () => Promise<readonly ThrottledReceiver[]>;
  readonly routesFor: (tenant: string, from: string | undefined) => readonly string[];
  readonly providers: Providers;
};

type AskedJob = {
  readonly job: JobRef;
  readonly settings: JobSettings;
  readonly decisions: readonly StoredEvent<JobEvent>[];
};

/** Reads the content only where a receiver is slowed down, or a route is away. */
export async function readMailOfJob(
  sources: MailSources,
  asked: AskedJob,
  workers: readonly WorkerState[],
  nowMs: number,
): Promise<MailOfJob> {
  const throttled = await sources.throttles();
  const { route } = asked.settings;
  const isRouteAway = workers.some(({ routes = [] }) => routes.some(({ isUsable }) => !isUsable));
  const isContentNeeded = throttled.length > 0 || (route === undefined && isRouteAway);
  const content = isContentNeeded ? await sources.content(asked.job) : null;
  const ofSender = content === null ? [] : sources.routesFor(asked.job.tenant, content.from ?? undefined);
  return {
    slowed: content === null || throttled.length === 0 ? [] : await slowedOf(sources, asked, content, throttled, nowMs),
    routes: route === undefined ? ofSender : [route],
  };
}

async function slowedOf(
  { log, providers }: MailSources,
  { job, settings, decisions }: AskedJob,
  { recipients }: JobContent,
  throttled: readonly ThrottledReceiver[],
  nowMs: number,
): Promise<readonly SlowedReceiver[]> {
  const ledger = await replayLedger(log, job, settings.total, decisions);
  const waiting = new Set(
    recipients.flatMap((one, index) =>
      one === null || isSettled(ledger, index) ? [] : [receiverOf(one.email, providers)],
    ),
  );
  return throttled.filter(({ receiver }) => waiting.has(receiver)).map((one) => toSlowed(one, nowMs));
}

function toSlowed({ receiver, throttle }: ThrottledReceiver, nowMs: number): SlowedReceiver {
  const { perSecond, since, pausedUntil, reason } = throttle;
  const { replyCode, statusCode } = reason;
  return {
    receiver,
    perMinute: Math.round(perSecond * 600) / 10,
    since: new Date(since).toISOString(),
    pausedUntil: pausedUntil > nowMs ? new Date(pausedUntil).toISOString() : null,
    answer: [replyCode, statusCode].filter((code) => code !== null).join(" "),
  };
}
