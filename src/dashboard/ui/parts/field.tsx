import { useEffect, useState } from "preact/hooks";
import { zoneAt } from "../reading/words.ts";

type TypedProps = {
  readonly label: string;
  readonly value: string;
  /** Called once the typing pauses. */
  readonly onChange: (value: string) => void;
};

const settleMs = 300;

function useSettled({ value, onChange }: TypedProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  // Only typing starts the timer.
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), settleMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const onInput = (event: { readonly currentTarget: HTMLInputElement }): void => setTyped(event.currentTarget.value);
  return { value: typed, onInput };
}

export const Search = (props: TypedProps) => (
  <label class="field">
    {props.label}
    <input type="search" {...useSettled(props)} />
  </label>
);

/** A local time. The label says of which zone. */
export const TimeField = (props: TypedProps) => (
  <label class="field">
    {props.label} ({zoneAt(new Date(props.value || Date.now()))})
    <input type="datetime-local" {...useSettled(props)} />
  </label>
);

type SeekProps = {
  readonly label: string;
  readonly value: string;
  /** The format that the browser itself accepts; anything where it is absent. */
  readonly pattern?: string;
  /** The label of the button. */
  readonly action?: string;
  readonly onSeek: (value: string) => void;
};

/** Called when the value is complete: the service would only refuse a half-typed one. */
export function Seek({ label, value, pattern = ".*", action = "Find", onSeek }: SeekProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const submit = (event: Event): void => {
    event.preventDefault();
    onSeek(typed.trim());
  };
  return (
    <form class="filters" onSubmit={submit}>
      <label class="field">
        {label}
        <input type="text" pattern={pattern} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      <button type="submit">{action}</button>
    </form>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChange: (value: string) => void;
};

export const Choice = ({ label, value, options, onChange }: ChoiceProps) => (
  <label class="field">
    {label}
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([one, title]) => (
        <option key={one} value={one}>
          {title}
        </option>
      ))}
    </select>
  </label>
);
