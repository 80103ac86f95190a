import mysql, { type RowDataPacket } from "mysql2/promise";
import { placeToText } from "../../src/event-log/place.ts";
import { ask } from "./ask.ts";
import { cameBackOf, countsOf, type FoldedJob } from "./fold-of-log.ts";
import type { AcceptedJob } from "./load.ts";
import type { Observed } from "./observed.ts";

/** A read model's answers, and the log's, in the same words: they must be equal to the letter. */
type Seen = { readonly job: object; readonly lines: readonly object[] };

type EndedJob = AcceptedJob & { readonly folded: FoldedJob };

/** The jobs of which the read models, by SQL and over HTTP, differ from the fold of the log, and in what they do. */
export async function differencesFromLog(
  stage: Pick<Observed, "mysqlUrl" | "apiUrls" | "headers">,
  jobs: readonly EndedJob[],
): Promise<ReadonlyMap<EndedJob, readonly string[]>> {
  const differing = new Map<EndedJob, readonly string[]>();
  const connection = await mysql.createConnection({ uri: stage.mysqlUrl, timezone: "Z" });
  try {
    for (const job of jobs) {
      const { jobId, recipients, folded } = job;
      const expected = toExpected(folded, recipients);
      const table = await fromTables(connection, jobId);
      const http = await fromHttp(stage, jobId);
      const differences = [
        ...compare(`tables of ${jobId}`, { ...expected.of, lastSequence: folded.lastSequence }, table.job),
        ...compare(`rows of logs of ${jobId}`, expected.lines, table.lines),
        ...compare(`GET ${jobId}`, expected.of, http.job),
        ...compare(`GET ${jobId}/logs`, expected.lines, http.lines),
      ];
      if (differences.length > 0) differing.set(job, differences);
    }
  } finally {
    await connection.end();
  }
  return differing;
}

function toExpected(folded: FoldedJob, recipients: readonly string[]) {
  const { jobId, status, attempt, createdAt, startedAt, completedAt, nextAttemptAt, errorCode } = folded;
  const progress = { ...countsOf(folded), ...cameBackOf(folded) };
  return {
    of: { id: jobId, status, attempt, createdAt, startedAt, completedAt, nextAttemptAt, errorCode, progress },
    lines: folded.lines.map((line) => ({ ...line, email: recipients[line.recipient] })),
  };
}

async function fromTables(connection: mysql.Connection, jobId: string): Promise<Seen> {
  const [jobRows] = await connection.query<RowDataPacket[]>("SELECT * FROM jobs WHERE id = ?", [jobId]);
  const [row] = jobRows;
  if (row === undefined) return { job: {}, lines: [] };
  const { id, status, attempt, total, sent, failed, pending, deferred, unknown, suppressed, bounced, complained } = row;
  const job = {
    ...{ id, status, attempt },
    createdAt: toText(row["created_at"]),
    startedAt: toText(row["started_at"]),
    completedAt: toText(row["completed_at"]),
    nextAttemptAt: toText(row["next_attempt_at"]),
    errorCode: row["error_code"],
    progress: { total, sent, failed, pending, deferred, unknown, suppressed, bounced, complained },
    lastSequence: Number(row["last_sequence"]),
  };
  const columns = "outcome.place, outcome.recipient, outcome.status, outcome.attempt, message_id, error_code";
  const sql = `
    SELECT ${columns}, outcome.email FROM recipients AS outcome WHERE job = :place AND place IS NOT NULL
    UNION ALL
    SELECT ${columns}, recipient.email FROM recipients_earlier AS outcome
      LEFT JOIN (SELECT job, recipient, email FROM recipients) AS recipient USING (job, recipient)
    WHERE outcome.job = :place ORDER BY place`;
  const [logRows] = await connection.query<RowDataPacket[]>({ sql, namedPlaceholders: true }, { place: row["place"] });
  const lines = logRows.map((line) => ({
    id: placeToText(Number(line["place"])),
    recipient: line["recipient"],
    status: line["status"],
    attempt: line["attempt"],
    messageId: line["message_id"],
    errorCode: line["error_code"],
    email: line["email"],
  }));
  return { job, lines };
}

const toText = (at: Date | null): string | null => at?.toISOString() ?? null;

type JobAnswer = Readonly<Record<string, unknown>> & { readonly error: { readonly code: string } | null };
type LineAnswer = Readonly<Record<string, unknown>> & { readonly error: { readonly code: string } | null };

async function fromHttp({ apiUrls, headers }: Pick<Observed, "apiUrls" | "headers">, jobId: string): Promise<Seen> {
  const url = `${apiUrls()[0]}/api/jobs/${jobId}`;
  const answer = (await read(url, headers)) as JobAnswer;
  const { id, status, attempt, createdAt, startedAt, completedAt, nextAttemptAt, error, progress } = answer;
  const job = { id, status, attempt, createdAt, startedAt, completedAt, nextAttemptAt, progress };
  const lines = ((await read(`${url}/logs`, headers)) as LineAnswer[]).map((line) => ({
    id: line["id"],
    recipient: line["recipient"],
    status: line["status"],
    attempt: line["attempt"],
    messageId: line["messageId"],
    errorCode: line.error?.code ?? null,
    email: line["email"],
  }));
  return { job: { ...job, errorCode: error?.code ?? null }, lines };
}

async function read(url: string, headers: Observed["headers"]): Promise<unknown> {
  const asked = await ask("GET", url, undefined, headers);
  if (asked.kind === "answered" && asked.status === 200) return asked.body;
  throw new Error(`GET ${url}: ${JSON.stringify(asked)}`);
}

function compare(what: string, expected: object, actual: object): string[] {
  const [one, other] = [sorted(expected), sorted(actual)];
  if (one === other) return [];
  const at = Math.max(0, [...one].findIndex((letter, index) => letter !== other[index]) - 200);
  const [said, says] = [one, other].map((text) => text.slice(at, at + 500));
  return [`${what}: the log says …${said}…, it says …${says}…`];
}

/** The same text for the same values, in whatever order the keys stand. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
