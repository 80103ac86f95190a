import type { ResultStore } from "../content/result-store.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { isOutage } from "../event-log/persistently.ts";
import { typesWithFile } from "../job-kinds/all-job-kinds.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";
import type { ErasurePorts, OutboxRequests } from "./complete-erasure.ts";
import { type AddressErasureRequest, eraseAddress } from "./erase-address.ts";
import { eraseLeftovers, eraseUnmadeParts } from "./erase-leftovers.ts";
import { eraseReports } from "./erase-reports.ts";
import { eraseFromSchedules } from "./erase-schedules.ts";
import type { StoredThings } from "./stored-things.ts";

/** Jobs that a read model names; it has followed the log up to `readSequence`. */
export type NamedJobs = { readonly jobIds: readonly string[]; readonly readSequence: number };

/** What the erasure of a person asks of read models. */
export interface PersonQueries<Cursor> {
  /** A page of the jobs that hold the address. The first page (null) may wait until it includes the log up to `upTo`. */
  jobsOf(address: string, cursor: Cursor | null, upTo: number): Promise<NamedJobs & { readonly next: Cursor | null }>;
  /** The mailings with parts that are no jobs. May wait until it includes the log up to `upTo`. */
  withUnmade(upTo: number): Promise<{ readonly mailingIds: readonly string[]; readonly readSequence: number }>;
  /** The schedules that are not deleted. May wait until it includes the log up to `upTo`. */
  schedules(upTo: number): Promise<{ readonly scheduleIds: readonly string[]; readonly readSequence: number }>;
  /** The jobs of a kind that are being processed. May wait until it includes the log up to `upTo`. */
  running(type: string, upTo: number): Promise<NamedJobs>;
  /** Waits until no row holds what was erased up to a sequence, or for as long as a read may take. */
  untilErased(sequence: number): Promise<void>;
}

export type PersonErasure =
  | { readonly outcome: "read-model-behind"; readonly upTo: number }
  | {
      readonly outcome: "erased";
      readonly erased: {
        readonly jobsErased: number;
        readonly reportsErased: number;
        readonly outboxRowsErased: number;
        readonly leftoversErased: number;
        readonly schedulesChanged: number;
        readonly isSuppressed: boolean;
      };
      /** Jobs that may hold the address and have not ended: a repeated request erases it from them once they have. */
      readonly jobsNotEnded: readonly string[];
      /** The mailings of those that are parts and no jobs yet. */
      readonly mailingsNotEnded: readonly string[];
      /** The sequence of the last decision; 0 if none was needed. */
      readonly sequence: number;
    };

export type PersonErasurePorts = ErasurePorts & {
  readonly results: Pick<ResultStore, "ofTenant">;
  readonly storedThings: Pick<StoredThings, "unsettledOf">;
  readonly outbox: Pick<OutboxRequests, "eraseAddress">;
  readonly suppressions: Pick<SuppressionList, "forgetAddress">;
};

/**
 * Erases an address from each job that has ended, from the files of reports and from the outbox, and lists the jobs that
 * have not ended, as well as the parts that mailings will make jobs of: what is erased stays erased, and a repeated request
 * continues where this one stopped. If the address is suppressed, the list still knows it, by a digest. `decided` hears of
 * each decision about a job. A job that cannot be erased, such as one in a file of the archive that is not at hand, stops no
 * others: its failure is thrown at the end.
 */
export async function erasePerson<Cursor>(
  ports: PersonErasurePorts,
  queries: PersonQueries<Cursor>,
  tenant: string,
  request: AddressErasureRequest,
  decided: (job: JobRef, sequence: number) => void,
): Promise<PersonErasure> {
  const { log, suppressions, outbox } = ports;
  const { address } = request;
  const { lastSequence: storedAt } = await log.state();
  const scheduled = await queries.schedules(storedAt);
  if (scheduled.readSequence < storedAt) return { outcome: "read-model-behind", upTo: storedAt };
  // Before the jobs, so that none is made of it meanwhile that is not found.
  const schedules = scheduled.scheduleIds.map((jobId) => ({ tenant, jobId }));
  const inSchedules = await eraseFromSchedules(ports, schedules, request);
  for (const [schedule, at] of inSchedules) decided(schedule, at);
  const { mailingIds, readSequence } = await queries.withUnmade(storedAt);
  if (readSequence < storedAt) return { outcome: "read-model-behind", upTo: storedAt };
  const mailings = mailingIds.map((jobId) => ({ tenant, jobId }));
  // Before the jobs, so that a part that becomes a job meanwhile is found as one of the two.
  const inUnmade = await eraseUnmadeParts(ports, mailings, request);
  const { lastSequence } = await log.state();
  const first = await queries.jobsOf(address, null, lastSequence);
  if (first.readSequence < lastSequence) return { outcome: "read-model-behind", upTo: lastSequence };
  const isSuppressed = await suppressions.forgetAddress(tenant, address);
  const notEnded = new Set<string>();
  const failures: unknown[] = [];
  let [jobsErased, sequence] = [0, Math.max(0, ...inSchedules.values())];
  for (let page = first; ; page = await queries.jobsOf(address, page.next, lastSequence)) {
    for (const jobId of page.jobIds) {
      const erasure = await eraseAddress(ports, { tenant, jobId }, request).catch((failure: unknown) => {
        // It concerns all the others, too.
        if (isOutage(failure)) throw failure;
        failures.push(failure);
        return null;
      });
      if (erasure === null) continue;
      if (erasure.outcome === "not-ended") {
        notEnded.add(jobId);
        continue;
      }
      if (erasure.outcome === "erased") jobsErased += 1;
      sequence = Math.max(sequence, erasure.sequence);
      if (erasure.sequence > 0) decided({ tenant, jobId }, erasure.sequence);
    }
    if (page.next === null) break;
  }
  await queries.untilErased(sequence);
  const inOutbox = await outbox.eraseAddress(tenant, address);
  for (const jobId of inOutbox.waiting) notEnded.add(jobId);
  // A report that is reading now may have read a row while it still held the address.
  const { lastSequence: forgottenAt } = await log.state();
  for (const type of typesWithFile) {
    const { jobIds, readSequence } = await queries.running(type, forgottenAt);
    if (readSequence < forgottenAt) return { outcome: "read-model-behind", upTo: forgottenAt };
    for (const jobId of jobIds) notEnded.add(jobId);
  }
  const inReports = await eraseReports(ports, tenant, request);
  failures.push(...inReports.failures);
  const leftOver = await eraseLeftovers(ports, tenant, request, lastSequence);
  if (failures.length > 0) throw failures[0];
  for (const jobId of [...inReports.notEnded, ...inUnmade.notEnded, ...leftOver.notEnded]) notEnded.add(jobId);
  const erased = {
    jobsErased,
    reportsErased: inReports.erased,
    outboxRowsErased: inOutbox.erased,
    leftoversErased: inUnmade.erased + leftOver.erased,
    schedulesChanged: inSchedules.size,
    isSuppressed,
  };
  return {
    outcome: "erased",
    erased,
    jobsNotEnded: [...notEnded],
    mailingsNotEnded: [...new Set([...inUnmade.mailings, ...leftOver.mailings])],
    sequence: Math.max(sequence, inReports.sequence),
  };
}
