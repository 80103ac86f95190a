import type { LogEntry } from "../api/answers.ts";
import { fetchAnswer, withQuery } from "../api/client.ts";

type LogFilter = { readonly email?: string; readonly status?: LogEntry["status"] };

/** The log of a job; 5000 entries at most, which a job of 1000 recipients has after a few attempts. */
export async function loadLogs(jobId: string, filter: LogFilter, signal: AbortSignal): Promise<readonly LogEntry[]> {
  const response = await fetchAnswer("GET", withQuery(`api/jobs/${encodeURIComponent(jobId)}/logs`, filter), {
    signal,
  });
  return await response.json();
}
