import { useEffect, useState } from "preact/hooks";
import type { BulkQuestion } from "../parts/bulk-dialog.tsx";
import { BulkRun } from "../parts/bulk-run.tsx";
import { figure } from "../reading/words.ts";
import type { JobFilter } from "./jobs-list.ts";

type BulkProps = {
  /** Null without a filter: then every job would match, and neither the page nor the service offers that. */
  readonly filter: JobFilter | null;
  readonly total: number;
  readonly selected: ReadonlySet<string>;
  readonly onDone: () => void;
};

const path = "api/jobs/bulk";
const actions = ["cancel", "pause", "resume", "retry"] as const;
type Action = (typeof actions)[number];

const words: Readonly<Record<Action, Omit<BulkQuestion, "bulk" | "noun">>> = {
  cancel: { verb: "Cancel", done: "cancelled", isDangerous: true, note: <p>A cancelled job cannot go on.</p> },
  pause: {
    verb: "Pause",
    done: "paused",
    undo: { verb: "Resume", done: "resumed", noun: "job", path, action: "resume" },
  },
  resume: {
    verb: "Resume",
    done: "resumed",
    undo: { verb: "Pause", done: "paused", noun: "job", path, action: "pause" },
  },
  retry: { verb: "Retry", done: "retried", note: <p>Recipients that were sent are not mailed again.</p> },
};

/** The filter as the service takes it: statuses as a list, and no empty conditions. */
function filterOf({ status, ...others }: JobFilter): Readonly<Record<string, unknown>> {
  const given = Object.entries(others).filter(([, value]) => value.trim() !== "");
  return { ...Object.fromEntries(given), ...(status === "" ? {} : { status: status.split(",") }) };
}

/** Applies one action to many jobs: the selected ones, or, where none is selected, those that match the filter. */
export function Bulk({ filter, total, selected, onDone }: BulkProps) {
  const [asked, setAsked] = useState<BulkQuestion | null>(null);
  const [isGoing, setGoing] = useState(false);
  // The back button may change the filters while the dialog is open.
  useEffect(() => setAsked(null), [JSON.stringify(filter)]);

  const isOfFilter = filter !== null && selected.size === 0;
  const count = isOfFilter ? total : selected.size;
  const which = isOfFilter ? { filter: filterOf(filter) } : { jobs: [...selected] };
  return (
    <>
      <fieldset class="bulk">
        <legend class="unseen">Bulk actions</legend>
        {actions.map((action) => (
          <button
            key={action}
            type="button"
            disabled={count === 0 || isGoing}
            onClick={() => setAsked({ ...words[action], noun: "job", bulk: { path, body: { action, ...which } } })}
          >
            {words[action].verb} {isOfFilter ? allThatMatch(count) : `${figure(count)} selected`}
          </button>
        ))}
        {filter === null && <small>Select jobs, or filter them.</small>}
      </fieldset>
      <BulkRun asked={asked} onAnswered={() => setAsked(null)} onGoing={setGoing} onDone={onDone} />
    </>
  );
}

const allThatMatch = (count: number): string =>
  count === 1 ? "the one that matches" : `all ${figure(count)} that match`;
