import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Problem, toProblem } from "../api/problem.ts";
import { figure } from "../reading/words.ts";
import { ProblemBox } from "./messages.tsx";

/** The reason in the form that the service takes; empty where none was given. */
export type GivenReason = { readonly reason?: string };

export type AskDialogProps = {
  readonly title: string;
  /** The label of the confirming button: the action and its object. "Cancel 322 jobs". */
  readonly action: string;
  /** The label of the other button. */
  readonly keep?: string;
  readonly isDangerous?: boolean;
  /** The number of things that the action affects; a large one must be typed. */
  readonly count?: number;
  /** The action is impossible, or not yet possible. */
  readonly isImpossible?: boolean;
  readonly needsReason?: boolean;
  /** For actions without a reason. */
  readonly hasNoReason?: boolean;
  readonly children?: ComponentChildren;
  /** The dialog shows an error that this throws, and stays open. */
  readonly onConfirm: (given: GivenReason) => Promise<void>;
  readonly onClose: () => void;
};

/** A number larger than this must be typed to confirm. */
const mostUntyped = 20;

/**
 * Asks before an action that others will notice, and for its reason, which the service keeps with the actor. Only the button
 * that names the action does it: the other button has the focus at first, and Enter in a field does nothing.
 */
export function AskDialog(props: AskDialogProps) {
  const { title, action, keep = "Close", count = 1, needsReason, children, onConfirm, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const closing = useRef<HTMLButtonElement>(null);
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const isTyped = count <= mostUntyped || typed.replace(/[\s.,]/g, "") === String(count);
  useEffect(() => {
    dialog.current?.showModal();
    closing.current?.focus();
  }, []);

  const confirm = async (): Promise<void> => {
    if (form.current?.reportValidity() !== true) return;
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
      <form ref={form} onSubmit={(event) => event.preventDefault()}>
        <h2 id="ask-title">{title}</h2>
        {children}
        {!props.hasNoReason && (
          <TextField
            label={`Reason ${needsReason ? "" : "(optional)"}`}
            isRequired={needsReason ?? false}
            value={reason}
            onInput={setReason}
          />
        )}
        {count > mostUntyped && (
          <TextField label={`Type ${figure(count)} to confirm`} value={typed} onInput={setTyped} />
        )}
        {problem !== null && <ProblemBox problem={problem} />}
        <div class="buttons">
          <button ref={closing} type="button" onClick={() => dialog.current?.close()}>
            {keep}
          </button>
          <button
            type="button"
            class={props.isDangerous ? "danger" : "primary"}
            disabled={isBusy || !isTyped || props.isImpossible}
            onClick={() => void confirm()}
          >
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

type TextFieldProps = {
  readonly label: string;
  readonly isRequired?: boolean;
  readonly value: string;
  readonly onInput: (value: string) => void;
};

const TextField = ({ label, isRequired = false, value, onInput }: TextFieldProps) => (
  <label class="field">
    {label}
    <input
      type="text"
      maxLength={500}
      required={isRequired}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  </label>
);
