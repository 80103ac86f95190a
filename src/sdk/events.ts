import type { Requests } from "./requests.ts";
import type { CallOptions, LogEvent, QueryOf } from "./types.ts";

const waitSeconds = 20;
/** Longer than the service waits for an event. */
const timeoutMs = (waitSeconds + 15) * 1000;

export const createEvents = ({ request }: Requests) => ({
  /**
   * All events of the tenant in order, for ever: at the end it waits for new ones, and where the service goes away it waits
   * for that. Store `cursorOf` the last event that was handled, and pass it as `after` to go on from there.
   */
  follow: async function* (
    query: Pick<QueryOf<"/api/events", "get">, "after" | "types"> = {},
    { signal }: CallOptions = {},
  ): AsyncGenerator<LogEvent> {
    // An address at which nothing ever answered is a mistake, and no outage.
    for (let [after, isPatient] = [query.after, false]; ; isPatient = true) {
      const asked = { ...query, limit: 1000, wait: waitSeconds, ...(after === undefined ? {} : { after }) };
      const page = await request("get", "/api/events", { query: asked, timeoutMs, isPatient, signal });
      yield* page.data;
      after = page.nextCursor ?? after;
    }
  },
});

/** The place behind an event: what `after` takes. */
export const cursorOf = ({ sequence, index }: Pick<LogEvent, "sequence" | "index">): string => `${sequence}.${index}`;
