import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, isPassing } from "./api/client.ts";
import { type Problem, toProblem, unreachable } from "./api/problem.ts";

export type Loaded<Value> = {
  /** The last loaded value; it stays while the next one loads, so that nothing flashes. */
  readonly value: Value | null;
  /** Whether the value answers an earlier question. */
  readonly isStale: boolean;
  /** The problem of the last request. */
  readonly problem: Problem | null;
  reload(): void;
};

type State<Value> = { readonly question: string; readonly value: Value | null; readonly problem: Problem | null };

/**
 * A network that swallows packets is noticed by the browser after many minutes: so long the page would show what is long past.
 * What is loaded once may take longer.
 */
const answersWithinMs = 30_000;

/** The wait after a temporary failure, even for data that is otherwise loaded once. */
const retryMs = 3000;

/**
 * Loads, and reloads every `everyMs` while the page is visible. `question` identifies the request: a new one drops the
 * request in progress.
 */
export function useLoad<Value>(
  question: string,
  load: (signal: AbortSignal) => Promise<Value>,
  everyMs: number | null = null,
): Loaded<Value> {
  const [state, setState] = useState<State<Value>>({ question, value: null, problem: null });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  // A new round repeats the same question.
  useEffect(() => {
    const going = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const askLater = (ms: number): void => {
      timer = setTimeout(() => (document.hidden ? askLater(ms) : void ask()), ms);
    };
    const ask = async (): Promise<void> => {
      let nextMs = everyMs;
      const late = new AbortController();
      const limit = everyMs === null ? undefined : setTimeout(() => late.abort(), answersWithinMs);
      try {
        const value = await latest.current(AbortSignal.any([going.signal, late.signal]));
        if (going.signal.aborted) return;
        setState({ question, value, problem: null });
      } catch (failure) {
        if (going.signal.aborted) return;
        const problem = late.signal.aborted ? unreachable() : toProblem(failure);
        setState((before) => ({ question, value: before.question === question ? before.value : null, problem }));
        if (isPassing(problem)) nextMs = Math.max(problem.retryAfterMs ?? 0, everyMs ?? retryMs);
      } finally {
        clearTimeout(limit);
      }
      if (nextMs !== null) askLater(nextMs);
    };
    void ask();
    return () => {
      clearTimeout(timer);
      going.abort();
    };
  }, [question, everyMs, round]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isStale = state.question !== question;
  return { value: state.value, isStale, problem: isStale ? null : state.problem, reload };
}

/** The same for an answer of the service at a path. */
export const useGet = <Answer>(path: string, everyMs: number | null = null): Loaded<Answer> =>
  useLoad(path, (signal) => get<Answer>(path, signal), everyMs);
