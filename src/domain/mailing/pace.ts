import type { Brakes } from "./brakes.ts";

/** How fast a mailing may go. */
export type Pace = Pick<Brakes, "ratePerHour" | "rampUp">;

const hourMs = 3_600_000;
/**
 * A part of a mailing with a pace is what may go in a minute, and after the first hour in five: a small mailing goes evenly,
 * and a long one has few parts.
 */
const partsPerHour = { first: 60, later: 12 } as const;

/** How many recipients the part after so many others may have, `mostOfPart` at most. */
export const sizeOfPart = (pace: Pace, recipientsBefore: number, mostOfPart: number): number =>
  Math.min(mostOfPart, Math.max(1, Math.ceil(rateAfter(pace, recipientsBefore) / partsIn(pace, recipientsBefore))));

const partsIn = (pace: Pace, recipientsBefore: number): number =>
  recipientsBefore < rateAfter(pace, 0) ? partsPerHour.first : partsPerHour.later;

/** How long after a part the next one waits, in milliseconds: evenly, so that nothing is made up for after a pause. */
export const waitAfterPart = (pace: Pace, recipientsBefore: number, recipients: number): number => {
  const rate = rateAfter(pace, recipientsBefore);
  return rate === Number.POSITIVE_INFINITY ? 0 : Math.ceil((recipients / rate) * hourMs);
};

/**
 * Recipients an hour once so many have gone. It depends on nothing else: a mailing that was paused for a day is as far in its
 * ramp-up as it was before.
 */
export function rateAfter({ ratePerHour, rampUp }: Pace, recipientsBefore: number): number {
  const most = ratePerHour ?? Number.POSITIVE_INFINITY;
  if (rampUp === null) return most;
  let rate = rampUp.firstHour;
  for (let gone = rate; gone <= recipientsBefore && rate < most; gone += rate) rate *= rampUp.growth;
  return Math.min(rate, most);
}
