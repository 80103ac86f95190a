import type { Knex } from "knex";
import { likeSpellings, patternsOf } from "../database/spellings.ts";
import { namesAddress, normalisedAddress } from "../domain/recipients/address.ts";
import type { AddressInOutbox, JobOfRow, OutboxRequests } from "../erasure/complete-erasure.ts";
import { toCreatedJob } from "../intake/accept-job.ts";
import { jobIdOfOutboxRow } from "../intake/derived-job-id.ts";
import { digestOfRequest } from "../intake/draft-job.ts";
import { parseJson } from "../schemas/parse-json.ts";

type Candidate = { readonly id: string; readonly status: "pending" | "processed" | "failed" };
type Texts = { readonly request: string; readonly response: string | null };

/** Sorts after every id: no printable ASCII character sorts after `~`. */
const beyondAll = "~".repeat(36);

/**
 * The table is read in pages by key, so that no statement takes longer than a connection may stay silent. Measured on 2
 * cores: such a page of large rows takes a second, with MariaDB 10.11 and with MySQL 9.7.
 */
const usualPage = { rows: 1000, bytes: 20 * 1024 * 1024 };

/** To measure rows, the server has to read them: so many of 9 MB take two seconds. */
const measuredAtOnce = 32;

/** The requests in the table `outbox`, on MySQL and MariaDB. */
export const createMysqlOutboxRequests = (db: Knex, mostOfPage = usualPage): OutboxRequests => ({
  eraseRow: async (tenant, rowId, became) => {
    const row = { tenant, id: rowId };
    await settleWaiting(db, row, became);
    await emptied(db, row, null);
  },

  eraseAddress: async (tenant, address) => {
    const waiting: string[] = [];
    let erased = 0;
    for await (const page of pagesOf(db, mostOfPage)) {
      for (const { id, status } of await candidates(db, { tenant, address }, page)) {
        const found = await readTexts(db, id);
        if (found === null || !isNamedIn(found, address)) continue;
        if (status === "pending") waiting.push(jobIdOfOutboxRow(tenant, id));
        else erased += await emptied(db, { tenant, id }, shortened(found.response, address));
      }
    }
    return { erased, waiting } satisfies AddressInOutbox;
  },
});

/** The rows after one up to another, by id. */
type Page = { readonly after: string; readonly last: string };

/** At least one row each, and the whole table. */
async function* pagesOf(db: Knex, most: typeof usualPage): AsyncGenerator<Page> {
  let [after, last, rows, bytes] = ["", "", 0, 0];
  for (;;) {
    const measured = await measureAfter(db, last);
    for (const row of measured) {
      if (rows > 0 && (rows === most.rows || bytes + row.bytes > most.bytes)) {
        yield { after, last };
        [after, rows, bytes] = [last, 0, 0];
      }
      [last, rows, bytes] = [row.id, rows + 1, bytes + row.bytes];
    }
    if (measured.length < measuredAtOnce) break;
  }
  yield { after, last: beyondAll };
}

const measureAfter = async (db: Knex, id: string): Promise<readonly { id: string; bytes: number }[]> =>
  await db("outbox")
    .select("id", db.raw("OCTET_LENGTH(request) + IFNULL(OCTET_LENGTH(response), 0) AS bytes"))
    .where("id", ">", id)
    .orderBy("id")
    .limit(measuredAtOnce);

type Person = { readonly tenant: string; readonly address: string };

/**
 * Every row that names the address, and some that do not. MariaDB stores JSON as it was written, including escaped
 * letters and slashes, so rows with such escapes are candidates too.
 */
async function candidates(db: Knex, { tenant, address }: Person, { after, last }: Page): Promise<readonly Candidate[]> {
  const inJson = JSON.stringify(normalisedAddress(address)).slice(1, -1);
  const wanted = [...patternsOf(inJson), "%\\u%", "%\\/%"];
  const likes = ["request", "response"].flatMap((column) => {
    const text = `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_unicode_ci`;
    return [likeSpellings(column, text), `${text} LIKE ? ESCAPE '!'`, `${text} LIKE ? ESCAPE '!'`];
  });
  const rows: Candidate[] = await db("outbox")
    .select("id", "status")
    .where({ tenant })
    .andWhere("id", ">", after)
    .andWhere("id", "<=", last)
    .andWhereRaw(`(${likes.join(" OR ")})`, [...wanted, ...wanted])
    .orderBy("id");
  return rows;
}

/** Cast to text: some servers return JSON as text, others as parsed values. */
async function readTexts(db: Knex, id: string): Promise<Texts | null> {
  const row: Texts | undefined = await db("outbox")
    .where({ id })
    .first(db.raw("CAST(request AS CHAR) AS request, CAST(response AS CHAR) AS response"));
  return row ?? null;
}

const isNamedIn = ({ request, response }: Texts, address: string): boolean =>
  namesAddress(unescaped(request), address) || namesAddress(unescaped(response ?? ""), address);

/** Serialised anew, JSON has only the escapes that it needs. Text that is not JSON is returned as it is. */
function unescaped(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The problem without the texts that quote the request; null if the response may stay. */
function shortened(response: string | null, address: string): string | null {
  if (response === null || !namesAddress(unescaped(response), address)) return null;
  const { type, title, status, code }: Readonly<Record<string, unknown>> = JSON.parse(response);
  return JSON.stringify({ type, title, status, code });
}

/** As its relay would do, which may have died, or waits for other rows: it would keep the request. */
async function settleWaiting(
  db: Knex,
  row: { tenant: string; id: string },
  { jobId, created }: JobOfRow,
): Promise<void> {
  const waiting = { ...row, status: "pending" };
  const isWaiting = (await db("outbox").where(waiting).first("id")) !== undefined;
  const found = isWaiting ? await readTexts(db, row.id) : null;
  if (found === null || digestOf(found.request) !== created.data.requestSha256) return;
  const response = JSON.stringify(toCreatedJob(jobId, created));
  await db("outbox").where(waiting).update({ status: "processed", next_retry_at: null, response });
}

/** Null for a text that is not JSON. */
function digestOf(request: string): string | null {
  const json = parseJson(Buffer.from(request), "request");
  return json.parsed ? digestOfRequest(json.value) : null;
}

/** Returns how many rows it changed. A row that the application has set back to pending meanwhile is left alone. */
async function emptied(db: Knex, row: { tenant: string; id: string }, response: string | null): Promise<number> {
  const request = JSON.stringify({ erasedAt: new Date().toISOString() });
  return await db("outbox")
    .where(row)
    .whereIn("status", ["processed", "failed"])
    .update(response === null ? { request } : { request, response });
}
