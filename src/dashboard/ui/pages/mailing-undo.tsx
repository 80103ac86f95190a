import { useEffect, useState } from "preact/hooks";
import type { MailingAnswer } from "../api/answers.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import { ProblemBox, tell } from "../parts/messages.tsx";
import { can } from "../session.ts";
import { act } from "./mailing-actions.tsx";

type UndoProps = { readonly mailing: MailingAnswer; readonly onChanged: (mailing: MailingAnswer) => void };

/**
 * Takes a start back with one press: there is little time, and the mailing is only a draft again. The service decides
 * whether there is time left; the countdown is that of this machine's clock.
 */
export function MailingUndo({ mailing: { id, status, undoUntil }, onChanged }: UndoProps) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isPossible = undoUntil !== null && ["scheduled", "processing", "paused"].includes(status);
  const left = useSecondsUntil(isPossible ? undoUntil : null);
  if (left <= 0) return problem === null ? null : <ProblemBox problem={problem} />;
  const undo = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const changed = await act("undo", id, {});
      tell("The start is taken back. The mailing is a draft again.");
      onChanged(changed);
    } catch (failure) {
      setProblem(toProblem(failure));
    }
    setBusy(false);
  };
  return (
    <section class="box" aria-label="Undo">
      <div class="pager">
        <span>
          No mail has left yet. The start can be taken back for <span role="timer">{countdown(left)}</span>.
        </span>
        {can("jobs:write") && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void undo()}>
            Undo the start
          </button>
        )}
      </div>
      {problem !== null && <ProblemBox problem={problem} />}
    </section>
  );
}

/** `0:09`, `9:59`, `23:59:59`. */
function countdown(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${hours === 0 ? minutes : `${hours}:${two(minutes)}`}:${two(rest)}`;
}

/** 0 where there is no such time, or it is over. */
function useSecondsUntil(instant: string | null): number {
  const [now, setNow] = useState(Date.now());
  const left = instant === null ? 0 : Math.max(0, Math.ceil((Date.parse(instant) - now) / 1000));
  const isRunning = left > 0;
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  // A time that is set later is counted from now, and not from when the page was opened.
  useEffect(() => setNow(Date.now()), [instant]);
  return left;
}
