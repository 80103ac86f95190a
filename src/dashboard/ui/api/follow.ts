import { pause } from "../reading/pause.ts";
import { fetchAnswer, isPassing } from "./client.ts";
import type { Problem } from "./problem.ts";
import { readEventStream } from "./read-event-stream.ts";

export type Following = {
  readonly onMessage: (event: string, data: unknown, id: string) => void;
  /** Null while it is connected. */
  readonly onTrouble: (problem: Problem | null) => void;
};

const firstPauseMs = 1000;
const longestPauseMs = 15_000;

/**
 * Follows a stream until the signal aborts, or until the service answers that the stream is over (204). After a broken
 * connection it resumes from the last message seen, so that none is lost or repeated. Throws when the service refuses for
 * good.
 */
export async function follow(path: string, { onMessage, onTrouble }: Following, signal: AbortSignal): Promise<void> {
  let lastId = "";
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = {
        Accept: "text/event-stream",
        ...(lastId === "" ? {} : { "Last-Event-ID": lastId }),
      };
      const { status, body } = await fetchAnswer("GET", path, { headers, signal });
      if (status === 204 || body === null) return;
      onTrouble(null);
      for await (const { event, id, data } of readEventStream(body)) {
        lastId = id;
        pauseMs = firstPauseMs;
        if (data !== "") onMessage(event, JSON.parse(data), id);
      }
    } catch (failure) {
      if (signal.aborted) return;
      const isBroken = failure instanceof TypeError;
      if (!isBroken && !isPassing(failure)) throw failure;
      if (!isBroken) onTrouble(failure);
      await pause(isBroken ? 0 : (failure.retryAfterMs ?? 0), signal);
    }
    await pause(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}
