import type { Instant } from "../../domain/message.ts";
import type { LastFiring, Schedule } from "../../domain/schedule/events.ts";
import type { CallerLimits } from "../../domain/tenant.ts";
import type { Cause, JobRef } from "../../event-log/event-log.ts";
import { LogFull } from "../../event-log/log-failures.ts";
import type { Refusal } from "../../intake/check-request.ts";
import type { CreationDependencies } from "../../intake/create-job.ts";
import type { UsingTemplates } from "../../intake/use-template.ts";
import type { CallerRules } from "../../job-kinds/job-kind.ts";
import type { Fault } from "../../schemas/fault.ts";
import type { Importer } from "../import-recipients.ts";

export type MakingPorts = CreationDependencies &
  Pick<CallerRules, "allowed" | "publicUrl"> &
  Pick<UsingTemplates, "templates"> & {
    readonly importer: Importer;
    readonly routesFor: (tenant: string, from: string | undefined) => readonly string[];
    /** The limits of a tenant as they are now. */
    readonly limitsOf: (tenant: string) => CallerLimits;
    /** Learns what operators have changed of limits and routes. Throws Unavailable. */
    readonly refreshRules: () => Promise<void>;
    /** A mailing with more recipients needs an approval, of any tenant; null for no limit. */
    readonly approvalAbove: number | null;
    /** The number of attempts for a job that does not name one. */
    readonly attemptsOfJob: number;
    readonly now: () => Instant;
  };

/** It was made, now or before, under the id of the firing or, where that was abandoned, another one; or it was refused. */
export type Made =
  | { readonly outcome: "made"; readonly madeId: string }
  | { readonly outcome: "refused"; readonly code: string; readonly places: readonly string[] };

/** A firing, and the schedule as it is by now. */
export type Firing = {
  readonly ref: JobRef;
  readonly schedule: Schedule;
  readonly last: LastFiring;
  readonly cause: Cause;
};

const maxPlaces = 20;

export const noRoom = (): LogFull => new LogFull("There is no room for what a schedule makes.");

/** The places alone: what stands there may be an address. */
export const refusedFor = (code: string, faults: readonly Fault[] = []): Made => ({
  outcome: "refused",
  code,
  places: faults.slice(0, maxPlaces).map(({ pointer }) => pointer.slice(0, 200)),
});

/** Why nothing is made of a firing whose making had begun with the former template: of the two, nobody meant that mixture. */
export const scheduleChanged = "schedule-changed";

/** What may be over soon is tried again. */
export function refused(refusal: Refusal): Made {
  if (refusal.code === "event-log-full") throw noRoom();
  if (refusal.code === "rejected") return refusedFor(refusal.rejection.code);
  return refusedFor(refusal.code, refusal.code === "validation-failed" ? refusal.faults : []);
}

export const rulesOf = ({ limitsOf, allowed, publicUrl, routesFor }: MakingPorts, tenant: string): CallerRules => ({
  senders: limitsOf(tenant).senders,
  allowed,
  publicUrl,
  routesFor: (from) => routesFor(tenant, from),
});
