import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Problem, toProblem } from "../api/problem.ts";
import { ProblemBox } from "./messages.tsx";

/** As the service takes it: empty where none was given. */
export type GivenReason = { readonly reason?: string };

export type AskDialogProps = {
  readonly title: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly needsReason?: boolean;
  /** Where the service keeps none. */
  readonly hasNoReason?: boolean;
  readonly children?: ComponentChildren;
  /** What it throws is shown, and the dialog stays. */
  readonly onConfirm: (given: GivenReason) => Promise<void>;
  readonly onClose: () => void;
};

/** Asks before something is done that others will see, and for the reason, which is kept with who asked. */
export function AskDialog(props: AskDialogProps) {
  const { title, action, isDangerous, needsReason, hasNoReason, children, onConfirm, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => dialog.current?.showModal(), []);

  const confirm = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await onConfirm(reason.trim() === "" ? {} : { reason: reason.trim() });
      dialog.current?.close();
    } catch (failure) {
      setProblem(toProblem(failure));
      setBusy(false);
    }
  };

  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="ask-title">
      <form onSubmit={(event) => void confirm(event)}>
        <h2 id="ask-title">{title}</h2>
        {children}
        {!hasNoReason && (
          <label class="field">
            Reason {needsReason ? "" : "(optional)"}
            <input
              type="text"
              maxLength={500}
              required={needsReason}
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          </label>
        )}
        {problem !== null && <ProblemBox problem={problem} />}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Back
          </button>
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
