import { useId } from "preact/hooks";
import type { Problem } from "../api/problem.ts";

type CheckedFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** The sentence that says what is wrong with the value; null where nothing is. */
  readonly fault?: string | null;
  /** Of a field for several lines. */
  readonly rows?: number;
  readonly isRequired?: boolean;
  /** The id of a list of values to choose from. */
  readonly list?: string;
};

type Typed = { readonly currentTarget: { readonly value: string } };

/** A text with its fault beside it. */
export function CheckedField({ label, value, onInput, fault = null, rows, isRequired, list }: CheckedFieldProps) {
  const id = useId();
  const faultId = `${id}-fault`;
  const shared = {
    id,
    value,
    required: isRequired ?? false,
    spellcheck: false,
    "aria-invalid": fault !== null,
    "aria-describedby": fault === null ? undefined : faultId,
    onInput: (event: Typed): void => onInput(event.currentTarget.value),
  };
  return (
    <div>
      <label class="field" for={id}>
        {label}
        {rows === undefined ? <input type="text" list={list} {...shared} /> : <textarea rows={rows} {...shared} />}
      </label>
      {fault !== null && (
        <p id={faultId} class="fault">
          {fault}
        </p>
      )}
    </div>
  );
}

/** What a refusal says about a field, and about what is in it. */
export function faultOf(problem: Problem | null, pointer: string): string | null {
  const faults = problem?.faults.filter(
    (fault) => fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`),
  );
  return faults === undefined || faults.length === 0 ? null : faults.map(({ message }) => message).join("; ");
}
