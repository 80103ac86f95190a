import type { Instant } from "../domain/message.ts";
import { type CallerLimits, expectedTenantName, isTenantName } from "../domain/tenant.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { newTraceparent, readTraceparent } from "../event-log/traceparent.ts";
import { findAccepted } from "../intake/accept-job.ts";
import { digestOfRequest } from "../intake/canonical-json.ts";
import { checkRequest, maxRequestBytes, refuseCrowd } from "../intake/check-request.ts";
import { type CreationDependencies, createJob } from "../intake/create-job.ts";
import { toCreatedJob } from "../intake/created-job.ts";
import { jobIdOfOutboxRow } from "../intake/derived-job-id.ts";
import { draftJob } from "../intake/draft-job.ts";
import { parseJson } from "../intake/parse-json.ts";
import type { Refusal } from "../intake/refusal.ts";
import { refuseDraft } from "../intake/refuse-draft.ts";
import { type Problem, problemOfFaults, toProblem } from "../problems/problem.ts";
import { problemOfFailure } from "../problems/problem-of-failure.ts";
import { problemOfRefusal } from "../problems/problem-of-refusal.ts";
import { type Fault, shown } from "../schemas/fault.ts";
import { delayAfterAttempt, maxAttempts, type RowResult, type TakenRow } from "./outbox.ts";

export type RelayRowDependencies = CreationDependencies &
  Pick<Parameters<typeof checkRequest>[1], "allowed" | "publicUrl"> & {
    readonly limitsOf: (tenant: string) => CallerLimits;
    /** Attempts of a job that does not say how many. */
    readonly attemptsOfJob: number;
    readonly now: () => Instant;
  };

/** What is said of a row, and what broke, if anything did. */
export type Relayed = { readonly result: RowResult; readonly failure: unknown };

/** Makes the job of a row, or finds it made. It never rejects: what breaks with one row is no matter of the others. */
export async function relayRow(dependencies: RelayRowDependencies, row: TakenRow): Promise<Relayed> {
  try {
    return { result: await createJobOf(dependencies, row), failure: null };
  } catch (failure) {
    return { result: later(row, delayAfterAttempt(row.attempts), problemOfFailure(failure, "id of the row")), failure };
  }
}

async function createJobOf(dependencies: RelayRowDependencies, row: TakenRow): Promise<RowResult> {
  const faults = rowFaults(row);
  if (faults.length > 0) return failed(row, problemOfFaults(faults));
  if (row.request === null) return failed(row, tooLarge(row.bytes));
  const json = parseJson(Buffer.from(row.request), "request");
  if (!json.parsed) return failed(row, toProblem("invalid-json", json.reason));
  const job: JobRef = { tenant: row.tenant, jobId: jobIdOfOutboxRow(row.tenant, row.id) };
  const created = await findCreated(dependencies, row, job, json.value);
  if (created !== null) return created;
  // Whoever makes the last attempt says what became of it, unless it was the end of him.
  if (row.attempts > maxAttempts) return failed(row, toProblem("internal-error", "No relay has outlived this row."));
  return await create(dependencies, row, job, json.value);
}

/**
 * Whoever took the row before may have made the job and died: then that is the answer, even if the tenant's rules have
 * changed since. A row that was written anew with another request is not looked for, and refused where it is created.
 */
async function findCreated(
  { log }: RelayRowDependencies,
  row: TakenRow,
  job: JobRef,
  body: unknown,
): Promise<RowResult | null> {
  const found = row.attempts === 1 ? null : await findAccepted(log, job);
  if (found === null || found.created.data.requestSha256 !== digestOfRequest(body)) return null;
  return { row, outcome: "processed", response: toCreatedJob(found.job.jobId, found.created) };
}

async function create(
  dependencies: RelayRowDependencies,
  row: TakenRow,
  job: JobRef,
  body: unknown,
): Promise<RowResult> {
  const { limitsOf, allowed, publicUrl, attemptsOfJob, contentStore, now } = dependencies;
  const crowd = refuseCrowd(body);
  if (crowd !== null) return refused(row, crowd, now());
  const limits = limitsOf(row.tenant);
  const request = checkRequest(body, { senders: limits.senders, allowed, publicUrl });
  if (!request.valid) return failed(row, problemOfFaults(request.faults));
  if (request.value.dryRun) return failed(row, problemOfFaults([noDryRun]));
  const at = now();
  const draft = draftJob({ job, isRepeatable: true, body, request: request.value, maxAttempts: attemptsOfJob, at });
  const refusal = await refuseDraft(draft, request.value, contentStore.maxBytes);
  if (refusal !== null) return refused(row, refusal, at);
  const traceparent = traceparentOfRow(row.id);
  const cause = { actor: "outbox", correlationId: row.id.toLowerCase(), causationId: null, traceparent };
  const creation = await createJob(dependencies, draft, { limits, cause, at });
  if (creation.outcome === "refused") return refused(row, creation.refusal, at);
  return { row, outcome: "processed", response: toCreatedJob(creation.job.jobId, creation.created) };
}

const noDryRun = {
  pointer: "/dryRun",
  message: "dryRun is true; expected no dry run here, as nobody reads its answer",
};

const tooLarge = (bytes: number): Problem =>
  toProblem("body-too-large", `The request takes ${bytes} bytes; expected at most ${maxRequestBytes}.`);

/** What may be over one day is waited for; the rest is final. */
function refused(row: TakenRow, refusal: Refusal, at: Instant): RowResult {
  const problem = problemOfRefusal(refusal);
  switch (refusal.code) {
    case "event-log-full":
      return later(row, delayAfterAttempt(row.attempts), problem);
    case "quota-exceeded": {
      const isPossible = refusal.recipients <= refusal.limit;
      return isPossible ? later(row, Date.parse(refusal.resetsAt) - Date.parse(at), problem) : failed(row, problem);
    }
    case "rejected":
      return failed(row, refusal.rejection.code === "idempotency-key-reused" ? rowReused : problem);
    case "validation-failed":
    case "too-many-recipients":
    case "content-too-large":
      return failed(row, problem);
  }
}

const rowReused = toProblem(
  "idempotency-key-reused",
  "A job was made of this row before, of another request; expected a row of its own for each job.",
);

const failed = (row: TakenRow, problem: Problem): RowResult => ({ row, outcome: "failed", problem });

/** The last attempt ends with what was in the way. */
const later = (row: TakenRow, delayMs: number, problem: Problem): RowResult =>
  row.attempts >= maxAttempts ? failed(row, problem) : { row, outcome: "later", delayMs };

/** Of any version: nothing is read out of it. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What is wrong with a row besides its request. The table takes it, as applications write into it as they like. */
export function rowFaults({ id, tenant }: Pick<TakenRow, "id" | "tenant">): readonly Fault[] {
  const faults: Fault[] = [];
  if (!uuid.test(id)) faults.push({ pointer: "/id", message: `id is ${shown(id)}; expected a UUID` });
  if (!isTenantName(tenant)) {
    faults.push({ pointer: "/tenant", message: `tenant is ${shown(tenant)}; expected ${expectedTenantName}` });
  }
  return faults;
}

/**
 * The trace that begins with a row: a UUID is as long as a trace's id, so whoever wrote the row knows what to look for,
 * and it is the same on every attempt. An id that W3C Trace Context forbids, all zeros, begins one of chance.
 */
export function traceparentOfRow(rowId: string): string {
  const digits = rowId.replaceAll("-", "").toLowerCase();
  return readTraceparent(`00-${digits}-${digits.slice(16)}-00`) ?? newTraceparent();
}
