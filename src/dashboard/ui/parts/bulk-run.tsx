import { useEffect, useRef, useState } from "preact/hooks";
import { actOnAll, type Bulk, type BulkDone, type Counted, countMany, nothingDone, sumOf } from "../api/bulk.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import { grouped } from "../reading/grouped.ts";
import { counted, figure } from "../reading/words.ts";
import type { GivenReason } from "./ask-dialog.tsx";
import { BulkDialog, type BulkQuestion, type BulkWords } from "./bulk-dialog.tsx";
import { ProblemBox } from "./messages.tsx";

type Run = BulkWords & {
  readonly of: number;
  readonly done: string;
  readonly so: BulkDone;
  readonly isOver: boolean;
  readonly isStopped: boolean;
  readonly problem: Problem | null;
  readonly undo: BulkQuestion["undo"];
};

type BulkProps = {
  /** Null where nothing is asked. */
  readonly asked: BulkQuestion | null;
  readonly onAnswered: () => void;
  /** Ask nothing else while it is going on: the page shows one run, and can stop only that. */
  readonly onGoing: (isGoing: boolean) => void;
  /** Called when the work is over. */
  readonly onDone: () => void;
};

/** A list in one call may be this long. */
const listedAtOnce = 1000;

/** Asks, then shows how far the service is, and afterwards what it did and how to undo it. */
export function BulkRun({ asked, onAnswered, onGoing, onDone }: BulkProps) {
  const [run, setRun] = useState<Run | null>(null);
  const stop = useRef<AbortController | null>(null);
  // After leaving the page the user could neither see nor stop the run.
  useEffect(() => () => stop.current?.abort(), []);

  const work = async (begin: Omit<Run, "so" | "isOver" | "isStopped" | "problem">, parts: readonly Part[]) => {
    const going = new AbortController();
    stop.current = going;
    let last: Run = { ...begin, so: nothingDone, isOver: false, isStopped: false, problem: null };
    const show = (news: Partial<Run>): void => {
      last = { ...last, ...news };
      setRun(last);
    };
    show({});
    onGoing(true);
    try {
      for (const { bulk, counted: asCounted } of parts) {
        if (going.signal.aborted) break;
        const before = last.so;
        const found = asCounted ?? (await countMany(bulk, going.signal));
        await actOnAll(bulk, found, going.signal, (so) => show({ so: together(before, so) }));
      }
    } catch (failure) {
      if (!going.signal.aborted) show({ problem: toProblem(failure) });
    }
    show({ isOver: true, isStopped: going.signal.aborted });
    onGoing(false);
    onDone();
  };

  const confirm = (question: BulkQuestion, found: Counted, given: GivenReason): void => {
    onAnswered();
    const { verb, done, noun, undo } = question;
    const bulk = { ...question.bulk, body: { ...question.bulk.body, ...given } };
    void work({ verb, done, noun, undo, of: found.matched }, [{ bulk, counted: found }]);
  };

  const takeBack = ({ so, undo }: Run): void => {
    if (undo === undefined) return;
    const { path, action, ...words } = undo;
    const ids = so.changed.map(({ jobId }) => jobId);
    const parts = Array.from({ length: Math.ceil(ids.length / listedAtOnce) }, (_, index) => ({
      bulk: { path, body: { action, jobs: ids.slice(index * listedAtOnce, (index + 1) * listedAtOnce) } },
      counted: null,
    }));
    void work({ ...words, of: ids.length, undo: undefined }, parts);
  };

  return (
    <>
      {asked !== null && (
        <BulkDialog question={asked} onConfirm={(found, given) => confirm(asked, found, given)} onClose={onAnswered} />
      )}
      {run !== null && !run.isOver && <Going run={run} onStop={() => stop.current?.abort()} />}
      {run?.isOver && <Over run={run} onUndo={() => takeBack(run)} onClose={() => setRun(null)} />}
    </>
  );
}

type Part = { readonly bulk: Bulk; readonly counted: Counted | null };

const together = (one: BulkDone, other: BulkDone): BulkDone => ({
  changed: [...one.changed, ...other.changed],
  unchanged: one.unchanged + other.unchanged,
  skipped: [...one.skipped, ...other.skipped],
});

const Going = ({ run: { of, noun, so }, onStop }: { readonly run: Run; readonly onStop: () => void }) => (
  <div class="box bulk" role="status">
    <progress max={Math.max(of, sumOf(so))} value={sumOf(so)} aria-label="Done" />
    {figure(sumOf(so))} of {counted(of, noun)}
    <button type="button" onClick={onStop}>
      Stop
    </button>
  </div>
);

type OverProps = { readonly run: Run; readonly onUndo: () => void; readonly onClose: () => void };

const Over = ({ run, onUndo, onClose }: OverProps) => {
  const { so, noun, done, undo, isStopped, problem } = run;
  const left = grouped(so.skipped, ({ code }) => code).map(({ key, rows }) => `${figure(rows.length)} ${key}`);
  return (
    <div class="box bulk" role="status">
      <span>
        {counted(so.changed.length, noun)} {done}
        {so.unchanged > 0 && `, ${figure(so.unchanged)} were so already`}
        {left.length > 0 && `, ${figure(so.skipped.length)} passed over (${left.join(", ")})`}
        {isStopped && ", then stopped"}.
      </span>
      {problem !== null && <ProblemBox problem={problem} />}
      {undo !== undefined && so.changed.length > 0 && (
        <button type="button" onClick={onUndo}>
          Undo: {undo.verb.toLowerCase()} {counted(so.changed.length, undo.noun)}
        </button>
      )}
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
};
