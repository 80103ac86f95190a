/** One of several that go on at the same time: it takes each of its steps through `step`, when it is let. */
export type Actor = (step: <Answer>(act: () => Promise<Answer>) => Promise<Answer>) => Promise<void>;

/** Which of those that could go on did, step by step, and how many there were. */
type Played = { readonly path: readonly number[]; readonly widths: readonly number[] };

/** Lets what a step set going come to rest. */
const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Plays actors against each other step by step: `choose` says which of those that wait goes on. One whose name is in
 * `crashing` never gets past as many steps as it says: its process is gone.
 */
export async function play(
  actors: Readonly<Record<string, Actor>>,
  choose: (waiting: number, at: number) => number,
  crashing: Readonly<Record<string, number>> = {},
): Promise<Played> {
  const waiting = new Map<string, () => void>();
  const failures: unknown[] = [];
  let running = 0;
  for (const [name, act] of Object.entries(actors)) {
    let left = crashing[name] ?? Number.POSITIVE_INFINITY;
    const step = async <Answer>(effect: () => Promise<Answer>): Promise<Answer> => {
      left -= 1;
      if (left < 0) {
        running -= 1;
        return await new Promise<never>(() => {});
      }
      await new Promise<void>((resolve) => waiting.set(name, resolve));
      return await effect();
    };
    running += 1;
    act(step)
      .catch((failure: unknown) => failures.push(failure))
      .finally(() => {
        running -= 1;
      });
  }
  const path: number[] = [];
  const widths: number[] = [];
  for (await rest(); running > 0 && waiting.size > 0; await rest()) {
    const names = [...waiting.keys()].sort();
    const chosen = choose(names.length, path.length);
    const name = names[chosen] ?? "";
    path.push(chosen);
    widths.push(names.length);
    const goOn = waiting.get(name);
    waiting.delete(name);
    goOn?.();
  }
  if (failures.length > 0) throw failures[0];
  return { path, widths };
}

/** Calls `playWith` with every way in which actors can take their steps among each other, until there is none left. */
export async function playAll(playWith: (choose: (waiting: number, at: number) => number) => Promise<Played>) {
  let plays = 0;
  for (let prefix: readonly number[] | null = []; prefix !== null; plays += 1) {
    const start: readonly number[] = prefix;
    prefix = nextPrefix(await playWith((_, at) => start[at] ?? 0));
  }
  return plays;
}

/** The next path in order: the last choice that had another one behind it takes that. */
function nextPrefix({ path, widths }: Played): readonly number[] | null {
  for (let at = path.length - 1; at >= 0; at -= 1) {
    const chosen = path[at] ?? 0;
    if (chosen + 1 < (widths[at] ?? 0)) return [...path.slice(0, at), chosen + 1];
  }
  return null;
}
