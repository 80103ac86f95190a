import { useEffect, useState } from "preact/hooks";
import { type Problem, toProblem } from "../api/problem.ts";
import { AskDialog, type GivenReason } from "../parts/ask-dialog.tsx";
import { ProblemBox } from "../parts/messages.tsx";
import { counted } from "../reading/words.ts";
import { type BulkAction, findJobs } from "./jobs-bulk-run.ts";
import type { JobFilter } from "./jobs-list.ts";

export type Asked = {
  readonly action: BulkAction;
  /** The selected jobs, or the filter that they match. */
  readonly jobs: readonly string[] | JobFilter;
};

type BulkDialogProps = {
  readonly asked: Asked;
  readonly onConfirm: (ids: readonly string[], given: GivenReason) => Promise<void>;
  readonly onClose: () => void;
};

/** Asks about the jobs that match at this moment, and no others: the user has read their number before confirming. */
export function BulkDialog({ asked: { action, jobs }, onConfirm, onClose }: BulkDialogProps) {
  const [ids, setIds] = useState<readonly string[] | null>(isList(jobs) ? jobs : null);
  const [found, setFound] = useState(0);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    if (isList(jobs)) return;
    const going = new AbortController();
    findJobs(jobs, action, going.signal, setFound).then(
      (all) => going.signal.aborted || setIds(all),
      (failure: unknown) => going.signal.aborted || setProblem(toProblem(failure)),
    );
    return () => going.abort();
  }, []);

  const name = nameOf(action);
  const count = ids?.length ?? found;
  const subject = counted(count, "job");
  return (
    <AskDialog
      title={ids === null ? `${name} all that match?` : `${name} ${subject}?`}
      action={`${name} ${subject}`}
      keep={action === "retry" ? "Close" : count === 1 ? "Keep it" : "Keep them"}
      isDangerous={action === "cancel"}
      count={count}
      isImpossible={ids === null || ids.length === 0}
      onConfirm={(given) => onConfirm(ids ?? [], given)}
      onClose={onClose}
    >
      {problem !== null && <ProblemBox problem={problem} />}
      {ids === null && problem === null && <p role="status">Reading the matching jobs: {subject} so far.</p>}
      {ids?.length === 0 && <p>No matching job can be {doneTo(action)}: the status of each forbids it.</p>}
      <p>This page changes one job after the other: keep it open. It leaves out jobs that match only later.</p>
    </AskDialog>
  );
}

const isList = (jobs: Asked["jobs"]): jobs is readonly string[] => Array.isArray(jobs);

export const nameOf = (action: BulkAction): string => (action === "cancel" ? "Cancel" : "Retry");

export const doneTo = (action: BulkAction): string => (action === "cancel" ? "cancelled" : "retried");
