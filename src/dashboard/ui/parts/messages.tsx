import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Problem } from "../api/problem.ts";

/** A problem with all its faults, and the id by which the operator finds the request in the log. */
export const ProblemBox = ({ problem }: { readonly problem: Problem }) => (
  <div class="box problem" role="alert">
    <strong>{problem.title}</strong>
    <p>{problem.message}</p>
    {problem.faults.length > 1 && (
      <ul>
        {problem.faults.map(({ pointer, message }) => (
          <li key={pointer + message}>{message}</li>
        ))}
      </ul>
    )}
    {problem.requestId !== null && problem.status >= 500 && (
      <p>
        <small>Request {problem.requestId}</small>
      </p>
    )}
  </div>
);

/** An empty list: why it is empty, and how to fill it. */
export const Empty = ({ title, command, children }: EmptyProps) => (
  <div class="box empty">
    <strong>{title}</strong>
    {children}
    {command !== undefined && <Command text={command} />}
  </div>
);

type EmptyProps = { readonly title: string; readonly command?: string; readonly children?: ComponentChildren };

export const Command = ({ text }: { readonly text: string }) => (
  <div class="command">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is scrolled with the keyboard, too. */}
    <pre tabIndex={0}>{text}</pre>
    <button type="button" onClick={() => void navigator.clipboard?.writeText(text).then(() => tell("Copied."))}>
      Copy
    </button>
  </div>
);

const told = signal<{ readonly text: string; readonly id: number } | null>(null);
let count = 0;
const shownMs = 6000;

/** A line that disappears by itself; screen readers read it out. */
export function tell(text: string): void {
  count += 1;
  const id = count;
  told.value = { text, id };
  setTimeout(() => {
    if (told.value?.id === id) told.value = null;
  }, shownMs);
}

export const Told = () => (
  <div class="told" role="status" aria-live="polite">
    {told.value !== null && <span>{told.value.text}</span>}
  </div>
);
