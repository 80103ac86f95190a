import type { Knex } from "knex";
import { namesAddress } from "../domain/recipients/address.ts";
import type { AddressInOutbox, OutboxRequests } from "../erasure/complete-erasure.ts";
import { jobIdOfOutboxRow } from "../intake/derived-job-id.ts";

type Candidate = { readonly id: string; readonly status: "pending" | "processed" | "failed" };
type Texts = { readonly request: string; readonly response: string | null };

/** Sorts after every id: no printable ASCII character sorts after `~`. */
const beyondAll = "~".repeat(36);

/** The table is read in pages by key, so that no statement takes longer than a connection may stay silent. */
const rowsPerPage = 1000;

/** The requests in the table `outbox`, on MySQL and MariaDB. */
export const createMysqlOutboxRequests = (db: Knex): OutboxRequests => ({
  eraseRow: async (tenant, rowId) => {
    await emptied(db, { tenant, id: rowId }, null);
  },

  eraseAddress: async (tenant, address) => {
    const waiting: string[] = [];
    let erased = 0;
    for (let after = ""; ; ) {
      const last = await endOfPage(db, after);
      for (const { id, status } of await candidates(db, { tenant, address, after, last })) {
        const found = await readTexts(db, id);
        if (found === null || !isNamedIn(found, address)) continue;
        if (status === "pending") waiting.push(jobIdOfOutboxRow(tenant, id));
        else erased += await emptied(db, { tenant, id }, shortened(found.response, address));
      }
      if (last === null) return { erased, waiting } satisfies AddressInOutbox;
      after = last;
    }
  },
});

/** The last row of the page that begins after this row; null if the rest does not fill a page. */
async function endOfPage(db: Knex, after: string): Promise<string | null> {
  const row: { id: string } | undefined = await db("outbox")
    .where("id", ">", after)
    .orderBy("id")
    .offset(rowsPerPage - 1)
    .first("id");
  return row?.id ?? null;
}

type Page = {
  readonly tenant: string;
  readonly address: string;
  readonly after: string;
  readonly last: string | null;
};

/**
 * Every row that names the address, and some that do not. MariaDB stores JSON as it was written, including escaped
 * letters and slashes, so rows with such escapes are candidates too.
 */
async function candidates(db: Knex, { tenant, address, after, last }: Page): Promise<readonly Candidate[]> {
  const inJson = JSON.stringify(address).slice(1, -1);
  const wanted = [containing(inJson), containing("\\u"), containing("\\/")];
  const texts = ["request", "response"].map((column) => `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_unicode_ci`);
  const likes = texts.flatMap((text) => wanted.map(() => `${text} LIKE ? ESCAPE '!'`));
  const rows: Candidate[] = await db("outbox")
    .select("id", "status")
    .where({ tenant })
    .andWhere("id", ">", after)
    .andWhere("id", "<=", last ?? beyondAll)
    .andWhereRaw(`(${likes.join(" OR ")})`, [...wanted, ...wanted])
    .orderBy("id");
  return rows;
}

const containing = (text: string): string => `%${text.replace(/[!%_]/g, "!$&")}%`;

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

/** Returns how many rows it changed. A row that the application has set back to pending meanwhile is left alone. */
async function emptied(db: Knex, row: { tenant: string; id: string }, response: string | null): Promise<number> {
  const request = JSON.stringify({ erasedAt: new Date().toISOString() });
  return await db("outbox")
    .where(row)
    .whereIn("status", ["processed", "failed"])
    .update(response === null ? { request } : { request, response });
}
