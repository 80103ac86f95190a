import type { Instant } from "../domain/message.ts";
import { type CallerLimits, expectedTenantName, isTenantName } from "../domain/tenant.ts";
import { Unavailable } from "../domain/unavailable.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { newTraceparent, readTraceparent } from "../event-log/traceparent.ts";
import { findAccepted, toCreatedJob } from "../intake/accept-job.ts";
import { checkRequest, maxRequestBytes, type Refusal, refuseTooMany } from "../intake/check-request.ts";
import { type CreationDependencies, createJob } from "../intake/create-job.ts";
import { jobIdOfOutboxRow } from "../intake/derived-job-id.ts";
import { digestOfRequest, draftJob, refuseDraft } from "../intake/draft-job.ts";
import { problemOfFailure, problemOfRefusal } from "../intake/problem-of.ts";
import { checkWithTemplate, templateOfJob, type UsingTemplates } from "../intake/use-template.ts";
import { type Fault, shown } from "../schemas/fault.ts";
import { parseJson } from "../schemas/parse-json.ts";
import { type Problem, problemOfFaults, toProblem } from "../schemas/problem.ts";
import { delayAfterAttempt, maxAttempts, type RowResult, type TakenRow } from "./outbox.ts";

export type RelayRowDependencies = CreationDependencies &
  Pick<Parameters<typeof checkRequest>[1], "allowed" | "publicUrl"> &
  Pick<UsingTemplates, "templates"> & {
    readonly limitsOf: (tenant: string) => CallerLimits;
    readonly routesFor: (tenant: string, from: string | undefined) => readonly string[];
    /** The number of attempts for a job that does not name one. */
    readonly attemptsOfJob: number;
    readonly now: () => Instant;
  };

/** The result of a row, and the failure behind it, if any. */
export type Relayed = { readonly result: RowResult; readonly failure: unknown };

/** Creates the job of a row, or finds it created. It never rejects, so a failure with one row does not affect the others. */
export async function relayRow(dependencies: RelayRowDependencies, row: TakenRow): Promise<Relayed> {
  try {
    return { result: await createJobOf(dependencies, row), failure: null };
  } catch (failure) {
    const delayMs = delayAfterAttempt(row.attempts);
    // The job may have been created all the same: an application that reads "failed" would write the row anew.
    if (failure instanceof Unavailable) return { result: { row, outcome: "later", delayMs }, failure };
    return { result: later(row, delayMs, problemOfFailure(failure, "id of the row")), failure };
  }
}

async function createJobOf(dependencies: RelayRowDependencies, row: TakenRow): Promise<RowResult> {
  const faults = rowFaults(row);
  if (faults.length > 0) return failed(row, problemOfFaults(faults));
  if (row.request === null) return failed(row, tooLarge(row.bytes));
  const json = parseJson(Buffer.from(row.request), "request");
  if (!json.parsed) return failed(row, toProblem("invalid-json", json.reason));
  const job: JobRef = { tenant: row.tenant, jobId: jobIdOfOutboxRow(row.tenant, row.id) };
  const created = row.attempts === 1 ? null : await findCreated(dependencies, row, job, json.value);
  if (created !== null) return created;
  // A relay that makes the last attempt stores its result, unless the row crashed that relay, or the log did not answer.
  if (row.attempts > maxAttempts)
    return failed(
      row,
      toProblem("internal-error", "Every relay that took this row crashed, or had no answer of the log."),
    );
  const result = await create(dependencies, row, job, json.value);
  // An application may have set the row back with its attempts, long after its job was created.
  const isRefusedAtFirst = result.outcome === "failed" && row.attempts === 1;
  return (isRefusedAtFirst ? await findCreated(dependencies, row, job, json.value) : null) ?? result;
}

/**
 * A relay that took the row before may have created the job and died. Then that job is the result, even if the tenant's
 * rules have changed since. A row whose request was changed does not count as created here, and is refused on creation.
 */
async function findCreated(
  { log }: RelayRowDependencies,
  row: TakenRow,
  job: JobRef,
  body: unknown,
): Promise<RowResult | null> {
  const found = await findAccepted(log, job);
  if (found === null || found.created.data.requestSha256 !== digestOfRequest(body)) return null;
  return { row, outcome: "processed", response: toCreatedJob(found.job.jobId, found.created) };
}

async function create(
  dependencies: RelayRowDependencies,
  row: TakenRow,
  job: JobRef,
  body: unknown,
): Promise<RowResult> {
  const { limitsOf, routesFor, allowed, publicUrl, attemptsOfJob, contentStore, templates, now } = dependencies;
  const tooMany = refuseTooMany(body);
  if (tooMany !== null) return refused(row, tooMany, now());
  const limits = limitsOf(row.tenant);
  const routesOf = (from: string | undefined) => routesFor(row.tenant, from);
  const rules = { senders: limits.senders, allowed, publicUrl, routesFor: routesOf };
  const check = (filled: unknown) => checkRequest(filled, rules);
  const earlier = templateOfJob(dependencies, job);
  const checked = await checkWithTemplate(body, { templates, tenant: row.tenant, earlier, check });
  if (!checked.valid) return failed(row, problemOfFaults(checked.faults));
  const { request, template } = checked.value;
  if (request.dryRun) return failed(row, problemOfFaults([noDryRun]));
  const at = now();
  const draft = draftJob({ job, isRepeatable: true, body, request, template, maxAttempts: attemptsOfJob, at });
  const refusal = await refuseDraft(draft, request, contentStore.maxBytes);
  if (refusal !== null) return refused(row, refusal, at);
  const traceparent = traceparentOfRow(row.id);
  const cause = { actor: "outbox", correlationId: row.id.toLowerCase(), causationId: null, traceparent };
  const creation = await createJob(dependencies, draft, { limits, cause, at });
  if (creation.outcome === "refused") return refused(row, creation.refusal, at);
  return { row, outcome: "processed", response: toCreatedJob(creation.job.jobId, creation.created) };
}

const noDryRun = {
  pointer: "/dryRun",
  message: "dryRun is true; expected no dry run in the outbox, where no caller reads the answer",
};

const tooLarge = (bytes: number): Problem =>
  toProblem("body-too-large", `The request takes ${bytes} bytes; expected at most ${maxRequestBytes}.`);

/** Only refusals that can pass with time are tried again. */
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
  "A job was created from this row with another request; expected a new row for each job.",
);

const failed = (row: TakenRow, problem: Problem): RowResult => ({ row, outcome: "failed", problem });

/** After the last attempt, the row fails with the problem. */
const later = (row: TakenRow, delayMs: number, problem: Problem): RowResult =>
  row.attempts >= maxAttempts ? failed(row, problem) : { row, outcome: "later", delayMs };

/** A UUID of any version. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Faults of a row besides its request. Applications write into the table directly, so it can hold such rows. */
export function rowFaults({ id, tenant }: Pick<TakenRow, "id" | "tenant">): readonly Fault[] {
  const faults: Fault[] = [];
  if (!uuid.test(id)) faults.push({ pointer: "/id", message: `id is ${shown(id)}; expected a UUID` });
  if (!isTenantName(tenant)) {
    faults.push({ pointer: "/tenant", message: `tenant is ${shown(tenant)}; expected ${expectedTenantName}` });
  }
  return faults;
}

/**
 * The trace that begins with a row. A UUID is as long as a trace id, so the application that wrote the row knows the
 * trace, and it is the same on every attempt. For an id that W3C Trace Context forbids (all zeros) it is random.
 */
export function traceparentOfRow(rowId: string): string {
  const digits = rowId.replaceAll("-", "").toLowerCase();
  return readTraceparent(`00-${digits}-${digits.slice(16)}-00`) ?? newTraceparent();
}
