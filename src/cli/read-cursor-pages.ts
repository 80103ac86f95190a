import type { Json, Service } from "./client/service.ts";
import { WrongUsage } from "./command-failed.ts";

const mostPerPage = 100;

/** The number of entries that `--limit` asks for. Throws WrongUsage. */
export function readLimit(limit: string): number {
  const wanted = Number(limit);
  if (/^\d{1,15}$/.test(limit) && wanted >= 1) return wanted;
  throw new WrongUsage(`--limit is ${limit}; expected 1 or more`);
}

/** Entries of a list with `nextCursor` beside its data, as many as wanted if it has them. */
export async function readCursorPages(
  service: Service,
  path: string,
  filter: Readonly<Record<string, string>>,
  wanted: number,
): Promise<readonly Json[]> {
  const found: Json[] = [];
  let cursor: number | string | null = null;
  while (found.length < wanted) {
    const query = new URLSearchParams({ ...filter, limit: String(Math.min(mostPerPage, wanted - found.length)) });
    if (cursor !== null) query.set("cursor", String(cursor));
    const { body }: { body: Json } = await service.ask(`${path}?${query}`);
    found.push(...body.data);
    cursor = body.nextCursor;
    if (cursor === null) break;
  }
  return found;
}
