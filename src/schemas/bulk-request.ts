import { type Static, type TProperties, Type } from "typebox";
import { jobStatuses } from "../domain/job/job-view.ts";
import type { Instant } from "../domain/message.ts";
import { type Checked, type Fault, failed, faultAt, passed } from "./fault.ts";
import { toInstant } from "./instant.ts";
import { expectedReason, retryRequest, someReason } from "./job-action-request.ts";
import { checkRequest, closed } from "./request-schema.ts";

const uuid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
const mostNamed = 1000;

const jobId = Type.String({ pattern: `^${uuid}$`, description: "the id of a job" });
const letterId = Type.String({ pattern: `^${uuid}\\.[1-9]\\d{0,8}$`, description: "the id of a dead letter" });
const time = Type.String({ format: "date-time", description: "a time such as 2026-11-21T09:30:00.000Z" });

const listOf = <Id extends typeof jobId>(id: Id) =>
  Type.Optional(
    Type.Array(id, { minItems: 1, maxItems: mostNamed, description: `a list of 1 to ${mostNamed} such ids` }),
  );

/** At least one condition: an empty filter would be everything. */
const filterOf = <Fields extends TProperties>(fields: Fields) =>
  Type.Optional(
    Type.Object(fields, {
      ...closed,
      minProperties: 1,
      description: `an object with at least one of ${Object.keys(fields).join(", ")}`,
    }),
  );

/** What every action on many things takes besides which and what. */
const course = {
  dryRun: Type.Optional(Type.Boolean({ description: "true or false; true counts, and changes nothing" })),
  asOf: Type.Optional(
    Type.String({
      format: "date-time",
      description: "a time such as 2026-11-21T09:30:00.000Z, as the dry run answered it",
    }),
  ),
  expected: Type.Optional(
    Type.Integer({ minimum: 0, description: "how many the dry run counted; needed with a filter" }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4000, description: "the nextCursor of the answer before" }),
  ),
};

const jobActions = ["cancel", "pause", "resume", "retry"] as const;
export type JobAction = (typeof jobActions)[number];

const { scope, reason } = retryRequest.properties;

/** The body of POST /api/jobs/bulk. */
export const bulkJobsRequest = Type.Object(
  {
    action: Type.Enum([...jobActions], { description: `one of ${jobActions.join(", ")}` }),
    jobs: listOf(jobId),
    filter: filterOf({
      status: Type.Optional(
        Type.Array(Type.Enum([...jobStatuses], { description: `one of ${jobStatuses.join(", ")}` }), {
          minItems: 1,
          description: "a list of statuses",
        }),
      ),
      type: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "a kind of job" })),
      mailing: Type.Optional(Type.String({ pattern: `^${uuid}$`, description: "the id of a mailing" })),
      createdAfter: Type.Optional(time),
      createdBefore: Type.Optional(time),
      q: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: "a part of the subject or the name, of 1 to 200 characters",
        }),
      ),
    }),
    scope,
    reason,
    ...course,
  },
  { ...closed, examples: [{ action: "cancel", filter: { status: ["pending", "queued"] }, dryRun: true }] },
);

const letterActions = ["requeue", "ignore"] as const;

/** The body of POST /api/dead-letters/bulk. */
export const bulkLettersRequest = Type.Object(
  {
    action: Type.Enum([...letterActions], { description: `one of ${letterActions.join(", ")}` }),
    letters: listOf(letterId),
    filter: filterOf({
      code: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "the code of an error" })),
      cause: Type.Optional(Type.String({ maxLength: 200, description: "a cause, as the list of causes has it" })),
    }),
    reason: Type.Optional(someReason),
    ...course,
  },
  { ...closed, examples: [{ action: "requeue", filter: { code: "too-many-failures" }, dryRun: true }] },
);

export type BulkJobsRequest = Static<typeof bulkJobsRequest>;
export type BulkLettersRequest = Static<typeof bulkLettersRequest>;
export type Course = Pick<BulkJobsRequest, keyof typeof course>;

const checkJobs = checkRequest(bulkJobsRequest);
const checkLetters = checkRequest(bulkLettersRequest);

export function readBulkJobs(body: unknown): Checked<BulkJobsRequest> {
  const checked = checkJobs(body);
  if (!checked.valid) return checked;
  const request = withTimeOfCursor(checked.value);
  const { action, jobs, filter, scope: asked } = request;
  const faults = courseFaults(request, jobs, filter, "jobs");
  const cursor = request.cursor?.replace(leftOfJobs, "") ?? "";
  if (jobs !== undefined ? !place.test(cursor) : cursor.startsWith("left:")) faults.push(noCursor);
  if (asked !== undefined && action !== "retry") faults.push(faultAt("/scope", "is only for the action retry"));
  return faults.length === 0 ? passed(request) : failed(faults);
}

export function readBulkLetters(body: unknown): Checked<BulkLettersRequest> {
  const checked = checkLetters(body);
  if (!checked.valid) return checked;
  const request = withTimeOfCursor(checked.value);
  const { action, letters, filter, reason: why, dryRun } = request;
  const faults = courseFaults(request, letters, filter, "letters");
  if (!place.test(request.cursor?.replace(leftOfLetters, "") ?? "")) faults.push(noCursor);
  if (action === "ignore" && why === undefined && dryRun !== true) {
    faults.push(faultAt("/reason", `is missing; expected ${expectedReason}`));
  }
  return faults.length === 0 ? passed(request) : failed(faults);
}

/**
 * The cursor of a list names the time of the first call, which need not name one: what an earlier call has done without an
 * answer was done since then.
 */
export const cursorSince = (asOf: Instant, cursor: string | null): string | null =>
  cursor === null ? null : `at:${asOf}:${cursor}`;

const sinceForm = /^at:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z):(.+)$/;

function withTimeOfCursor<Asked extends Course>(asked: Asked): Asked {
  const [, since = "", cursor] = sinceForm.exec(asked.cursor ?? "") ?? [];
  return Number.isNaN(Date.parse(since)) ? asked : { ...asked, asOf: asked.asOf ?? since, cursor };
}

/** Where a cursor is a place in a list, or in the log. */
const place = /^\d{0,15}$/;
/** What a cursor may begin with: see actOnMany. */
const leftOf = (id: string): RegExp => new RegExp(`^left:${id}(?:,${id})*:`);
const leftOfJobs = leftOf(uuid);
const leftOfLetters = leftOf(`${uuid}\\.[1-9]\\d{0,8}`);
const noCursor = faultAt("/cursor", "is not from such an answer; expected its nextCursor");

function courseFaults(
  { dryRun, asOf, expected, cursor }: Course,
  listed: readonly string[] | undefined,
  filter: object | undefined,
  list: string,
): Fault[] {
  const faults: Fault[] = [];
  if ((listed === undefined) === (filter === undefined)) {
    faults.push(faultAt("", `says neither, or both, of ${list} and filter; expected one of them`));
  }
  if (dryRun === true || filter === undefined) return faults;
  // What is done to a filter is done to what a dry run has counted: to nothing that came later, and to no more.
  if (expected === undefined && cursor === undefined) {
    faults.push(faultAt("/expected", `is missing; expected the number that a dry run counted`));
  }
  if (asOf === undefined) faults.push(faultAt("/asOf", "is missing; expected the time that the dry run answered"));
  return faults;
}

/** A checked time in the service's own format; null for none. */
export const instantOf = (text: string | undefined): Instant | null => (text === undefined ? null : toInstant(text));
