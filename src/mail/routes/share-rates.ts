import type { MailRouting } from "./mail-routing.ts";
import type { RouteBook } from "./route-book.ts";

export type SharedRates = { start(): void; stop(): void };

/** With an answer within a second, a worker that joins or leaves counts within four. */
const askEveryMs = 1200;

/**
 * Divides the rate of each route among the workers that are alive, equally: the workers of all processes together keep to
 * it. A worker that has just started sends nothing on a route with a rate until the others have had the time to count it;
 * one that finds no other begins at once. While no answer comes, the last count stands.
 *
 * `countWorkers` counts this one, too. Where two counts in a row differ the larger one counts: a busy worker may miss one.
 */
export function shareRates(
  routing: MailRouting,
  book: Pick<RouteBook, "routes" | "onChange">,
  countWorkers: () => Promise<number>,
  report: (failure: unknown) => void,
): SharedRates {
  let latest = 0;
  let divisor: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  let isCounting = false;

  const apply = (): void => {
    const rates = new Map(book.routes().map(({ name, rate }) => [name, rate]));
    for (const run of routing.runs()) run.pace.setRate(shareOf(rates.get(run.name) ?? null, divisor));
  };
  const count = async (): Promise<void> => {
    const found = Math.max(1, await countWorkers());
    const isFirst = latest === 0;
    divisor = isFirst && found > 1 ? null : Math.max(found, latest);
    latest = found;
    apply();
  };
  const isNeeded = (): boolean => book.routes().some(({ rate }) => rate !== null);
  const countInTurn = async (): Promise<void> => {
    if (isCounting || isStopped) return;
    isCounting = true;
    timer = null;
    if (isNeeded()) await count().catch(report);
    // What was counted for a rate that is gone says nothing once there is another one.
    else [latest, divisor] = [0, null];
    isCounting = false;
    if (!isStopped) timer = setTimeout(() => void countInTurn(), askEveryMs);
  };
  let stopListening: () => void = () => {};

  return {
    start: () => {
      apply();
      stopListening = book.onChange(apply);
      void countInTurn();
    },
    stop: () => {
      isStopped = true;
      stopListening();
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Nothing as long as it is not known how many there are. */
function shareOf(rate: number | null, workers: number | null): number | null {
  if (rate === null) return null;
  return workers === null ? 0 : rate / workers;
}
