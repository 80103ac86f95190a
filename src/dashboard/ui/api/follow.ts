import { pause } from "../reading/pause.ts";
import { fetchAnswer, isPassing } from "./client.ts";
import { type Problem, unreachable } from "./problem.ts";
import { readEventStream } from "./read-event-stream.ts";

export type Following = {
  readonly onMessage: (event: string, data: unknown, id: string) => void;
  /** Null while it is connected. */
  readonly onTrouble: (problem: Problem | null) => void;
};

const firstPauseMs = 1000;
const longestPauseMs = 15_000;
/** The service says something every 15 s: a connection that is silent for so long was cut off without a word. */
const silenceMs = 40_000;

/**
 * Follows a stream until the signal aborts, or until the service answers that the stream is over (204). After a broken
 * connection it resumes from the last message seen, so that none is lost or repeated. Throws when the service refuses for
 * good.
 */
export async function follow(path: string, { onMessage, onTrouble }: Following, signal: AbortSignal): Promise<void> {
  let lastId = "";
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    const silent = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
    };
    try {
      const headers: Record<string, string> = {
        Accept: "text/event-stream",
        ...(lastId === "" ? {} : { "Last-Event-ID": lastId }),
      };
      listen();
      const asked = { headers, signal: AbortSignal.any([signal, silent.signal]) };
      const { status, body } = await fetchAnswer("GET", path, asked);
      if (status === 204 || body === null) return;
      onTrouble(null);
      for await (const { event, id, data } of readEventStream(body)) {
        listen();
        lastId = id;
        pauseMs = firstPauseMs;
        if (data !== "") onMessage(event, JSON.parse(data), id);
      }
    } catch (failure) {
      if (signal.aborted) return;
      const trouble = silent.signal.aborted ? unreachable() : failure;
      const isBroken = trouble instanceof TypeError;
      if (!isBroken && !isPassing(trouble)) throw trouble;
      if (!isBroken) onTrouble(trouble);
      await pause(isBroken ? 0 : (trouble.retryAfterMs ?? 0), signal);
    } finally {
      clearTimeout(timer);
    }
    await pause(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}
