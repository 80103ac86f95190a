import { useEffect, useRef, useState } from "preact/hooks";
import { toProblem } from "../api/problem.ts";
import type { GivenReason } from "../parts/ask-dialog.tsx";
import { tell } from "../parts/messages.tsx";
import { counted, figure } from "../reading/words.ts";
import { type Asked, BulkDialog, doneTo, nameOf } from "./jobs-bulk-dialog.tsx";
import { actOnAll, type BulkAction, type Progress } from "./jobs-bulk-run.ts";
import type { JobFilter } from "./jobs-list.ts";

type BulkProps = {
  /** Null without a filter: then every job would match, and the page does not offer that. */
  readonly filter: JobFilter | null;
  readonly total: number;
  readonly selected: ReadonlySet<string>;
  readonly onDone: () => void;
};

/**
 * Applies one action to many jobs. The page sends one request per job, and can stop between any two: the API has no call
 * for many jobs. Jobs whose status does not allow the action are counted and skipped.
 */
export function Bulk({ filter, total, selected, onDone }: BulkProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const stop = useRef<AbortController | null>(null);

  // After leaving the page the user could neither see nor stop the run.
  useEffect(() => () => stop.current?.abort(), []);
  // The back button may change the filters while the dialog is open.
  useEffect(() => setAsked(null), [JSON.stringify(filter)]);

  const run = async (action: BulkAction, ids: readonly string[], given: GivenReason): Promise<void> => {
    const going = new AbortController();
    stop.current = going;
    let last: Progress = { done: 0, skipped: 0, of: ids.length };
    const show = (progress: Progress): void => {
      last = progress;
      setProgress(progress);
    };
    try {
      show(last);
      await actOnAll(action, ids, given, going.signal, show);
      const rest = last.skipped === 0 ? "" : `, ${figure(last.skipped)} passed over`;
      tell(`${counted(last.done, "job")} ${doneTo(action)}${rest}${going.signal.aborted ? ", then stopped" : ""}.`);
    } catch (failure) {
      going.abort();
      tell(`Stopped after ${counted(last.done, "job")}: ${toProblem(failure).message}`);
    } finally {
      setProgress(null);
      onDone();
    }
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
  return (
    <fieldset class="bulk">
      <legend class="unseen">Bulk actions</legend>
      {(["cancel", "retry"] as const).map((action) => (
        <span key={action} class="joined">
          <button
            type="button"
            disabled={selected.size === 0}
            onClick={() => setAsked({ action, jobs: [...selected] })}
          >
            {nameOf(action)} {figure(selected.size)} selected
          </button>
          {filter !== null && (
            <button type="button" disabled={total === 0} onClick={() => setAsked({ action, jobs: filter })}>
              {nameOf(action)} all {figure(total)} that match
            </button>
          )}
        </span>
      ))}
      {filter === null && <small>Select jobs, or filter them.</small>}
      {asked !== null && (
        <BulkDialog
          asked={asked}
          onConfirm={async (ids, given) => {
            setAsked(null);
            void run(asked.action, ids, given);
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </fieldset>
  );
}
