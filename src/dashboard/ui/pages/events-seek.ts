import type { EventPage } from "../api/answers.ts";
import { fetchAnswer, get, withQuery } from "../api/client.ts";
import { Problem } from "../api/problem.ts";

/** The types of events that tenants can read, for the filter; the page's HTML lists them. */
export const eventTypes = (document.documentElement.dataset["eventTypes"] ?? "").split(" ");

type PageOptions = { readonly types: string; readonly limit: number; readonly signal?: AbortSignal | undefined };

/** `next` is null at the end of the log. */
export async function pageAfter(after: number, { types, limit, signal }: PageOptions) {
  const page = await get<EventPage>(withQuery("api/events", { after, types, limit, wait: 0 }), signal);
  return { events: page.data, next: page.hasMore ? Number(page.nextCursor) : null };
}

/**
 * The end of the log as a read model knows it; the page follows from a little before. A key that may not read jobs starts
 * at the beginning.
 */
export async function findEnd(signal?: AbortSignal): Promise<number> {
  try {
    const response = await fetchAnswer("GET", "api/jobs?pageSize=1", { signal });
    return Number(response.headers.get("Read-Sequence") ?? 0);
  } catch (failure) {
    if (failure instanceof Problem && failure.status === 403) return 0;
    throw failure;
  }
}

/** The value of `after` for the first event at or after a time: a binary search, because the log is in order of time. */
export async function findSequenceAt(instant: string, signal: AbortSignal): Promise<number> {
  let [low, high] = [0, await findEnd(signal)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { events } = await pageAfter(middle, { types: "", limit: 1, signal });
    const [event] = events;
    if (event === undefined || event.time >= instant) high = middle;
    else low = Math.max(event.sequence, middle + 1);
  }
  return low;
}
