import { shareInWords } from "../../../domain/figures-in-words.ts";

/** `1 recipient`, `12,345 recipients`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${figure(count)} ${count === 1 ? noun : plural}`;

const figures = new Intl.NumberFormat("en");

export const figure = (count: number): string => figures.format(count);

/** `0.5 %`; an en dash for an unknown value. */
export const percent = (share: number | null): string => (share === null ? "–" : shareInWords(share));

const units: readonly (readonly [name: string, seconds: number])[] = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
];

/** `45 s`, `3 min`, `2 h 10 min`: two units at most. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const index = units.findIndex(([, size]) => whole >= size);
  const unit = units[index];
  if (unit === undefined) return `${whole} s`;
  const [name, size] = unit;
  const next = units[index + 1];
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next[1]);
  return `${Math.floor(whole / size)} ${name}${next === undefined || rest === 0 ? "" : ` ${rest} ${next[0]}`}`;
}

/** `2 min ago`, `in 3 h`, `just now`. */
export function relative(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  if (Math.abs(seconds) < 5) return "just now";
  return seconds > 0 ? `in ${duration(seconds)}` : `${duration(-seconds)} ago`;
}

const absoluteFormat = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });

/** `2026-11-21 09:30:00`, in local time. */
export const absolute = (instant: string): string => absoluteFormat.format(new Date(instant));

/** As the browser's input holds it: local time, to the minute and without a zone; empty for none. */
export function toLocal(instant: string): string {
  const at = Date.parse(instant);
  if (Number.isNaN(at)) return "";
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
