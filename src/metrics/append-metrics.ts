import { Counter, Histogram, type Registry } from "prom-client";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import type { WaybillEvent } from "../event-log/event-log.ts";
import type { Append } from "../event-log/observe-appends.ts";
import { channelOf } from "../event-log/subjects.ts";
import { named } from "./registry.ts";

/**
 * Counts what this process stored in the log; the sum over all processes is the total. Labels come from a closed
 * vocabulary and are never a tenant, a job or an address.
 */
export function createAppendMetrics(registry: Registry): (append: Append) => void {
  const registers = [registry];
  const events = new Counter({
    ...named("events_published_total", "Events stored in the log, by type."),
    labelNames: ["type"],
    registers,
  });
  const jobs = new Counter({
    ...named("jobs_total", "Decisions about jobs that were stored: created, started, completed, …"),
    labelNames: ["event"],
    registers,
  });
  const messages = new Counter({
    ...named("messages_total", "Outcomes of mails that were stored, with the code of the error."),
    labelNames: ["outcome", "reason"],
    registers,
  });
  const attempts = new Histogram({
    ...named("message_attempts", "The attempt of its job on which the outcome of a mail was final."),
    labelNames: ["outcome"],
    buckets: [1, 2, 3, 5, 8, 13],
    registers,
  });
  const deadLetters = new Counter({
    ...named("dead_letters_total", "Jobs that gave up, by the code of the reason."),
    labelNames: ["reason"],
    registers,
  });
  const seconds = new Histogram({
    ...named("publish_seconds", "Time from the publishing of an entry until the log has stored it."),
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const conflicts = new Counter({
    ...named(
      "publish_conflicts_total",
      "Decisions that were not stored because another process had decided about the job first.",
    ),
    registers,
  });
  const failures = new Counter({
    ...named("publish_failures_total", "Entries that were not stored: the log was unavailable or full."),
    labelNames: ["reason"],
    registers,
  });

  const webhooks = new Counter({
    ...named(
      "webhook_deliveries_total",
      "Calls of webhooks that were recorded: delivered, later (to be retried), failed (given up).",
    ),
    labelNames: ["outcome"],
    registers,
  });

  // Prometheus sees an increase only in a counter that it has read before. These are what alerts watch.
  jobs.inc({ event: "failed" }, 0);
  for (const reason of lost) failures.inc({ reason }, 0);

  const countStored = (event: WaybillEvent): void => {
    events.inc({ type: event.type });
    if (event.type === "WebhookDelivered") webhooks.inc({ outcome: "delivered" });
    if (event.type === "WebhookFailed")
      webhooks.inc({ outcome: event.data.nextAttemptAt === null ? "failed" : "later" });
    if (channelOf(event) === "job") jobs.inc({ event: decisionOf(event) });
    if (isIn(outcomes, event)) messages.inc({ outcome: outcomes[event.type], reason: reasonOf(event) });
    if (isIn(finalOutcomes, event)) {
      attempts.observe({ outcome: finalOutcomes[event.type] }, event.data.attempt);
    }
    if (event.type === "JobFailed") deadLetters.inc({ reason: reasonOf(event) });
  };

  return ({ entry, outcome, ms }) => {
    switch (outcome) {
      case "stored":
        seconds.observe(ms / 1000);
        for (const { event } of entry) countStored(event);
        return;
      case "conflict":
        conflicts.inc();
        return;
      case "full":
      case "unavailable":
      case "failed":
        failures.inc({ reason: outcome });
    }
  };
}

/** Outcomes of an append that stored nothing, for another reason than that another process was first. */
const lost = ["full", "unavailable", "failed"] as const;

type Named<Type extends WaybillEvent["type"]> = Readonly<Record<Type, string>>;

/** `retry_scheduled` of JobRetryScheduled. */
const decisionOf = ({ type }: WaybillEvent): string =>
  type
    .replace(/^Job/, "")
    .replace(/\B[A-Z]/g, "_$&")
    .toLowerCase();

/** Only a mail that was attempted counts; a suppressed recipient never had an attempt. */
const finalOutcomes = {
  RecipientSent: "sent",
  RecipientFailed: "failed",
  RecipientUnknown: "unknown",
} as const satisfies Partial<Named<RecipientEvent["type"]>>;

/** An event about several recipients before their attempts is not an outcome. */
const outcomes: Named<Exclude<RecipientEvent["type"], "RecipientsClaimed" | "RecipientsReleased">> = {
  ...finalOutcomes,
  RecipientDeferred: "deferred",
  RecipientSuppressed: "suppressed",
};

const isIn = <Type extends WaybillEvent["type"]>(
  names: Named<Type>,
  event: WaybillEvent,
): event is Extract<WaybillEvent, { type: Type }> => Object.hasOwn(names, event.type);

/** The reasons that people type never become labels: they are free text. */
function reasonOf({ type, data }: WaybillEvent): string {
  if (type === "RecipientSuppressed") return data.reason;
  return "error" in data && data.error !== null ? data.error.code : "none";
}
