import { useEffect, useState } from "preact/hooks";

type TypedProps = {
  readonly label: string;
  readonly value: string;
  /** Told on once nobody types for a moment. */
  readonly onChange: (value: string) => void;
};

const settleMs = 300;

function useSettled({ value, onChange }: TypedProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  // Only what is typed starts the clock.
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

/** A time where the reader is, without its zone. */
export const TimeField = (props: TypedProps) => (
  <label class="field">
    {props.label}
    <input type="datetime-local" {...useSettled(props)} />
  </label>
);

type SeekProps = {
  readonly label: string;
  readonly value: string;
  /** What the browser itself lets through; anything where it is absent. */
  readonly pattern?: string;
  readonly onSeek: (value: string) => void;
};

/** Told on when it is whole: what is half typed would only be refused. */
export function Seek({ label, value, pattern = ".*", onSeek }: SeekProps) {
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
      <button type="submit">Find</button>
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
