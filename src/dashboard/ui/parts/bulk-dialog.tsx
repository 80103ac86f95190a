import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Bulk, type Counted, countMany } from "../api/bulk.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import { counted } from "../reading/words.ts";
import { AskDialog, type GivenReason } from "./ask-dialog.tsx";
import { ProblemBox } from "./messages.tsx";

/** The words for an action: `Cancel`, `cancelled`, `job`. */
export type BulkWords = { readonly verb: string; readonly done: string; readonly noun: string };

export type BulkQuestion = BulkWords & {
  readonly bulk: Bulk;
  readonly isDangerous?: boolean;
  readonly needsReason?: boolean;
  readonly note?: ComponentChildren;
  /** How what was done is undone, where it can be. */
  readonly undo?: BulkWords & { readonly path: string; readonly action: string };
};

type BulkDialogProps = {
  readonly question: BulkQuestion;
  readonly onConfirm: (counted: Counted, given: GivenReason) => void;
  readonly onClose: () => void;
};

/** Asks about those that match at this moment, and no others: the user has read their number before confirming. */
export function BulkDialog({ question, onConfirm, onClose }: BulkDialogProps) {
  const { bulk, verb, done, noun, isDangerous = false, needsReason = false, note } = question;
  const [found, setFound] = useState<Counted | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const going = new AbortController();
    countMany(bulk, going.signal).then(
      (some) => going.signal.aborted || setFound(some),
      (failure: unknown) => going.signal.aborted || setProblem(toProblem(failure)),
    );
    return () => going.abort();
  }, []);

  const count = found?.matched ?? 0;
  const subject = counted(count, noun);
  return (
    <AskDialog
      title={found === null ? `${verb} all that match?` : `${verb} ${subject}?`}
      action={`${verb} ${subject}`}
      keep={!isDangerous ? "Close" : count === 1 ? "Keep it" : "Keep them"}
      isDangerous={isDangerous}
      needsReason={needsReason}
      count={count}
      isImpossible={count === 0}
      onConfirm={async (given) => {
        if (found !== null) onConfirm(found, given);
      }}
      onClose={onClose}
    >
      {problem !== null && <ProblemBox problem={problem} />}
      {found === null && problem === null && <p role="status">The service counts them.</p>}
      {found !== null && count === 0 && (
        <p>
          No matching {noun} can be {done}: the status of each forbids it.
        </p>
      )}
      {note}
      <p>The service leaves out what matches only later.</p>
    </AskDialog>
  );
}
