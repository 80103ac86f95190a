import type { Knex } from "knex";
import { namesAddress } from "../domain/recipients/address.ts";
import type { AddressInOutbox, OutboxRequests } from "../erasure/complete-erasure.ts";

type Candidate = { readonly id: string; readonly status: "pending" | "processed" | "failed" };
type Texts = { readonly request: string; readonly response: string | null };

/** Behind every id, which holds what ASCII has up to here. */
const beyondAll = "~".repeat(36);

/** A page of the table is read by its key, so that no statement takes longer than a connection may be silent. */
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
        if (status === "pending") waiting.push(id);
        else erased += await emptied(db, { tenant, id }, shortened(found.response, address));
      }
      if (last === null) return { erased, waiting } satisfies AddressInOutbox;
      after = last;
    }
  },
});

/** The last row of the page that begins after this one; null where fewer are left than fill it. */
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
 * Rows that may name it, and surely all that do. MariaDB keeps JSON as it was written, also with letters and slashes
 * escaped: what holds such an escape is looked at closely.
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

/** As text on every server: some hand JSON over as it is, some as what it means. */
async function readTexts(db: Knex, id: string): Promise<Texts | null> {
  const row: Texts | undefined = await db("outbox")
    .where({ id })
    .first(db.raw("CAST(request AS CHAR) AS request, CAST(response AS CHAR) AS response"));
  return row ?? null;
}

const isNamedIn = ({ request, response }: Texts, address: string): boolean =>
  namesAddress(unescaped(request), address) || namesAddress(unescaped(response ?? ""), address);

/** Written anew, JSON has no escapes but those that it needs. A row that is no JSON is taken as it is. */
function unescaped(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** A problem without the words that quote what was wrong; null where the answer may stay. */
function shortened(response: string | null, address: string): string | null {
  if (response === null || !namesAddress(unescaped(response), address)) return null;
  const { type, title, status, code }: Readonly<Record<string, unknown>> = JSON.parse(response);
  return JSON.stringify({ type, title, status, code });
}

/** Answers how many rows it changed. One that the application has put back meanwhile waits again, and is left. */
async function emptied(db: Knex, row: { tenant: string; id: string }, response: string | null): Promise<number> {
  const request = JSON.stringify({ erasedAt: new Date().toISOString() });
  return await db("outbox")
    .where(row)
    .whereIn("status", ["processed", "failed"])
    .update(response === null ? { request } : { request, response });
}
