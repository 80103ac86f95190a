import type { CommandContext } from "./command-context.ts";

export type ProgressLine = {
  /** Shows `done` of `total`. */
  show(done: number, total: number, words: string): void;
  /** Prints another line in between. */
  interrupt(line: string): void;
  /** Keeps the last state on the terminal, so that other lines can follow. */
  end(): void;
};

const barWidth = 24;
const betweenLinesMs = 2000;
const betweenFramesMs = 100;

/** Shows a bar that is updated in place on a terminal, and otherwise plain lines from time to time. */
export function createProgressLine({ isTerminal, tell, overwrite }: CommandContext): ProgressLine {
  const beganAt = performance.now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  const end = (): void => {
    if (isOpen) overwrite(null);
    isOpen = false;
  };
  return {
    show: (done, total, words) => {
      const now = performance.now();
      const isLast = done >= total;
      if (!isLast && now - shownAt < (isTerminal ? betweenFramesMs : betweenLinesMs)) return;
      shownAt = now;
      const rate = done / Math.max(0.001, (now - beganAt) / 1000);
      const left = rate > 0 && !isLast ? `, ${toDuration((total - done) / rate)} left` : "";
      const counts = `${toNumber(done)} of ${toNumber(total)} ${words}, ${toNumber(Math.round(rate))}/s${left}`;
      if (!isTerminal) return tell(counts);
      isOpen = true;
      overwrite(`${toBar(done, total)} ${counts}`);
    },
    interrupt: (line) => {
      end();
      tell(line);
    },
    end,
  };
}

function toBar(done: number, total: number): string {
  const filled = total === 0 ? 0 : Math.round((Math.min(done, total) / total) * barWidth);
  return `[${"#".repeat(filled)}${".".repeat(barWidth - filled)}]`;
}

export const toNumber = (value: number): string => value.toLocaleString("en");

export const counted = (count: number, what: string): string => `${toNumber(count)} ${what}${count === 1 ? "" : "s"}`;

export function toDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.ceil(whole / 60)} min` : `${(whole / 3600).toFixed(1)} h`;
}
