import { useEffect, useRef, useState } from "preact/hooks";
import { isPassing } from "../api/client.ts";
import { Problem, toProblem } from "../api/problem.ts";
import { AskDialog, type GivenReason } from "../parts/ask-dialog.tsx";
import { tell } from "../parts/messages.tsx";
import { pause } from "../reading/pause.ts";
import { counted, figure } from "../reading/words.ts";
import { act, actionsFor } from "./job-actions.tsx";
import { allJobs, type JobFilter } from "./jobs-list.ts";

type BulkAction = "cancel" | "retry";
type Progress = { readonly done: number; readonly skipped: number; readonly of: number };

type BulkProps = {
  readonly filter: JobFilter;
  readonly total: number;
  readonly selected: ReadonlySet<string>;
  readonly onDone: () => void;
};

const atOnce = 4;
const pauseMs = 2000;

/**
 * The same for many jobs. This page does it, one request a job, and can stop between any two: the API has no call for
 * many. Jobs whose status does not allow it are counted and passed over.
 */
export function Bulk({ filter, total, selected, onDone }: BulkProps) {
  const [asked, setAsked] = useState<{ readonly action: BulkAction; readonly isAll: boolean } | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const stop = useRef<AbortController | null>(null);

  // Who leaves the page sees no more of it, and could not stop it.
  useEffect(() => () => stop.current?.abort(), []);

  const run = async (action: BulkAction, ids: AsyncIterable<readonly string[]>, of: number, given: GivenReason) => {
    const signal = stop.current?.signal ?? AbortSignal.abort();
    let [done, skipped] = [0, 0];
    try {
      setProgress({ done, skipped, of });
      for await (const some of ids) {
        const waiting = [...some];
        const hand = async (): Promise<void> => {
          for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift()) {
            if (await actOn(action, id, given, signal)) done += 1;
            else skipped += 1;
            setProgress({ done, skipped, of });
          }
        };
        await Promise.all(Array.from({ length: atOnce }, hand));
        if (signal.aborted) break;
      }
      const words = action === "cancel" ? "cancelled" : "retried";
      const rest = skipped === 0 ? "" : `, ${figure(skipped)} passed over`;
      tell(`${counted(done, "job")} ${words}${rest}${signal.aborted ? ", then stopped" : ""}.`);
    } catch (failure) {
      if (!signal.aborted) tell(`Stopped after ${counted(done, "job")}: ${toProblem(failure).message}`);
    } finally {
      setProgress(null);
      onDone();
    }
  };

  const begin = async (given: GivenReason): Promise<void> => {
    if (asked === null) return;
    const { action, isAll } = asked;
    stop.current = new AbortController();
    const ids = isAll ? matching(filter, action, stop.current.signal) : once([...selected]);
    setAsked(null);
    void run(action, ids, isAll ? total : selected.size, given);
  };

  if (progress !== null) {
    return (
      <div class="box bulk" role="status">
        <progress max={progress.of} value={progress.done + progress.skipped} aria-label="Jobs done" />
        {figure(progress.done + progress.skipped)} of {counted(progress.of, "job")}
        <button type="button" onClick={() => stop.current?.abort()}>
          Stop
        </button>
      </div>
    );
  }
  const subject = asked?.isAll ? `all ${counted(total, "job")} that match` : counted(selected.size, "selected job");
  return (
    <fieldset class="bulk">
      <legend class="unseen">Many jobs at once</legend>
      {(["cancel", "retry"] as const).map((action) => (
        <span key={action} class="joined">
          <button type="button" disabled={selected.size === 0} onClick={() => setAsked({ action, isAll: false })}>
            {nameOf(action)} {figure(selected.size)} selected
          </button>
          <button type="button" disabled={total === 0} onClick={() => setAsked({ action, isAll: true })}>
            {nameOf(action)} all {figure(total)} that match
          </button>
        </span>
      ))}
      {asked !== null && (
        <AskDialog
          title={`${nameOf(asked.action)} ${subject}?`}
          action={nameOf(asked.action)}
          isDangerous={asked.action === "cancel"}
          onConfirm={begin}
          onClose={() => setAsked(null)}
        >
          <p>
            This page does it, one job after the other: keep it open. What the status does not allow is passed over.
          </p>
        </AskDialog>
      )}
    </fieldset>
  );
}

const nameOf = (action: BulkAction): string => (action === "cancel" ? "Cancel" : "Retry");

async function* once<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}

/** Only those that the action can be meant for are asked. */
async function* matching(
  filter: JobFilter,
  action: BulkAction,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  for await (const jobs of allJobs(filter, signal)) {
    yield jobs.filter(({ status }) => actionsFor(status).includes(action)).map(({ id }) => id);
  }
}

/** False where the job's status does not allow it, or there is no such job any more. */
async function actOn(action: BulkAction, id: string, given: GivenReason, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await act(action, id, given);
      return true;
    } catch (failure) {
      if (failure instanceof Problem && (failure.status === 409 || failure.status === 404)) return false;
      if (!isPassing(failure)) throw failure;
      await pause(failure.retryAfterMs ?? pauseMs, signal);
    }
  }
  return false;
}
