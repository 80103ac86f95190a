import { shareInWords } from "../../../domain/figures-in-words.ts";

/** `1 recipient`, `12,345 recipients`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${figure(count)} ${count === 1 ? noun : plural}`;

const unknown = "–";

const figures = new Intl.NumberFormat("en");

/** An en dash for what is no number: a figure is right or it is not shown. */
export const figure = (count: number): string => (Number.isFinite(count) ? figures.format(count) : unknown);

/** `0.5 %`, never less than none and never more than all; an en dash for an unknown value. */
export const percent = (share: number | null): string =>
  share === null || Number.isNaN(share) ? unknown : shareInWords(Math.min(1, Math.max(0, share)));

const units: readonly (readonly [name: string, seconds: number])[] = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
];

/** `45 s`, `3 min`, `2 h 10 min`: two units at most, and never less than nothing. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return unknown;
  const whole = Math.max(0, Math.round(seconds));
  const index = units.findIndex(([, size]) => whole >= size);
  const unit = units[index];
  if (unit === undefined) return `${whole} s`;
  const [name, size] = unit;
  const next = units[index + 1];
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next[1]);
  return `${Math.floor(whole / size)} ${name}${next === undefined || rest === 0 ? "" : ` ${rest} ${next[0]}`}`;
}

/** From one instant to another: `under 1 s`, `45 s`. */
export function between(from: string, to: string): string {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  return seconds < 1 ? "under 1 s" : duration(seconds);
}

/** `2 min ago`, `in 3 h`, `just now`. */
export function relative(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  if (Math.abs(seconds) < 5) return "just now";
  return seconds > 0 ? `in ${duration(seconds)}` : `${duration(-seconds)} ago`;
}

const absoluteFormat = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
const zoneFormat = new Intl.DateTimeFormat("en", { timeZoneName: "short" });

/** `GMT+1`, as the zone of this browser is called at that moment. */
export const zoneAt = (at: Date): string =>
  zoneFormat.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";

/** `2026-11-21 09:30:00 GMT+1`, in local time. */
export const absolute = (instant: string): string => {
  const at = new Date(instant);
  return `${absoluteFormat.format(at)} ${zoneAt(at)}`;
};

/** As the browser's input holds it: local time, to the minute and without a zone; empty for none. */
export function toLocal(instant: string): string {
  const at = Date.parse(instant);
  if (Number.isNaN(at)) return "";
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
