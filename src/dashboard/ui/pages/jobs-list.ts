import type { JobAnswer, JobPage } from "../api/answers.ts";
import { get, withQuery } from "../api/client.ts";

export const filterNames = ["status", "q", "createdAfter", "createdBefore"] as const;

/** As the place and the API hold it; empty for any. */
export type JobFilter = Readonly<Record<(typeof filterNames)[number], string>>;

export const readFilter = (query: URLSearchParams): JobFilter => {
  const of = (name: string): string => query.get(name) ?? "";
  return { status: of("status"), q: of("q"), createdAfter: of("createdAfter"), createdBefore: of("createdBefore") };
};

export type PageOf = {
  readonly cursor: string | null;
  readonly pageSize?: number;
  readonly signal?: AbortSignal | undefined;
};

export const loadJobs = (filter: JobFilter, { cursor, pageSize = 50, signal }: PageOf): Promise<JobPage> =>
  get(withQuery("api/jobs", { ...filter, cursor, pageSize }), signal);

/** All matching jobs, page by page, newest first: as fast at the end as at the beginning. */
export async function* allJobs(filter: JobFilter, signal: AbortSignal): AsyncGenerator<readonly JobAnswer[]> {
  let cursor: string | null = null;
  do {
    const page: JobPage = await loadJobs(filter, { cursor, pageSize: 100, signal });
    yield page.data;
    cursor = page.pagination.nextCursor ?? null;
  } while (cursor !== null && !signal.aborted);
}
