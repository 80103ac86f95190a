import { type Chance, createChance } from "./chance.ts";
import type { Faults } from "./scenario.ts";

/** One process of the service. What it awaits comes to it through the world, which may end or freeze it instead. */
export type SimulatedProcess = {
  readonly name: string;
  /** One that is mortal may crash or freeze whenever it hears or says something. */
  readonly isMortal: boolean;
  state: "alive" | "frozen" | "dead";
  /** What came to it, or was about to leave it, while it was frozen. */
  held: (() => void)[];
};

type Step = { readonly at: number; readonly order: number; readonly run: () => void; isCancelled: boolean };

export type World = ReturnType<typeof createWorld>;

/** When every history begins. */
const beginning = Date.parse("2026-11-21T09:30:00.000Z");

/** Lets what a step set going come to rest: promises that are settled are gone on with, until nothing is left. */
const rest = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
/** Lets the engine report unhandled rejections; whatever else this Node process has to do happens here, too. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Time, processes and whatever may befall them. Everything happens in steps, in an order that the seed decides. */
export function createWorld(seed: number, faults: Faults) {
  const chance: Chance = createChance(seed);
  const steps: Step[] = [];
  const story: string[] = [];
  const violations: string[] = [];
  const onEnd: ((process: SimulatedProcess, how: "crashed" | "frozen") => void)[] = [];
  let now = beginning;
  let order = 0;
  let isHealed = false;
  let logAwayUntil = 0;
  let current: SimulatedProcess | null = null;

  const note = (text: string): void => {
    story.push(`${((now - beginning) / 1000).toFixed(3).padStart(8)} s  ${text}`);
  };
  const schedule = (delayMs: number, run: () => void): Step => {
    order += 1;
    const step: Step = { at: now + Math.max(0, delayMs), order, run, isCancelled: false };
    let place = steps.length;
    while (place > 0 && isLater(step, steps[place - 1] as Step)) place -= 1;
    steps.splice(place, 0, step);
    return step;
  };
  const end = (process: SimulatedProcess, how: "crashed" | "frozen"): void => {
    for (const tell of onEnd) tell(process, how);
  };
  const crash = (process: SimulatedProcess): void => {
    if (process.state === "dead") return;
    note(`${process.name} crashes`);
    process.state = "dead";
    process.held = [];
    end(process, "crashed");
  };
  const freeze = (process: SimulatedProcess, forMs: number): void => {
    note(`${process.name} is frozen for ${(forMs / 1000).toFixed(1)} s`);
    process.state = "frozen";
    end(process, "frozen");
    schedule(forMs, () => thaw(process));
  };
  const thaw = (process: SimulatedProcess): void => {
    if (process.state !== "frozen") return;
    note(`${process.name} goes on`);
    process.state = "alive";
    for (const run of process.held.splice(0)) tell(process, 0, run);
  };
  /** Something comes to a process, or leaves it; which is when it may crash or freeze. */
  const pass = (process: SimulatedProcess, run: () => void): void => {
    if (process.state === "alive" && process.isMortal && !isHealed) {
      if (chance.happens(faults.crashes)) crash(process);
      else if (chance.happens(faults.freezes)) freeze(process, chance.between(2000, 45_000));
    }
    if (process.state === "frozen") process.held.push(run);
    if (process.state === "alive") run();
  };
  const tell = (process: SimulatedProcess, delayMs: number, run: () => void): Step =>
    schedule(delayMs, () => {
      current = process;
      pass(process, run);
    });

  return {
    chance,
    faults,
    story,
    violations,
    onEnd,
    note,
    crash,
    freeze,
    schedule,
    nowMs: () => now,
    random: chance.next,
    isHealed: () => isHealed,
    isLogAway: () => !isHealed && now < logAwayUntil,
    takeLogAway: (forMs: number): void => {
      note(`the log is away for ${(forMs / 1000).toFixed(1)} s`);
      logAwayUntil = now + forMs;
    },
    /** True as often as the fault is to strike, and never once the world is healed. */
    strikes: (probability: number): boolean => !isHealed && chance.happens(probability),
    violated: (text: string): void => {
      note(`!! ${text}`);
      violations.push(text);
    },
    /** From now on nothing goes wrong any more; frozen processes go on. */
    heal: (processes: readonly SimulatedProcess[]): void => {
      isHealed = true;
      note("-- the world is healed --");
      for (const process of processes) thaw(process);
    },
    /** An answer, a message or a timer that reaches a process; one that is dead never hears of it. */
    tell,
    /** A call or a message leaves a process; what a dead one sends is lost. */
    leave: pass,
    /** Runs a piece of a process, as its start: the next thing that happens, so that what it goes on with is its own, too. */
    runIn: (process: SimulatedProcess, run: () => void): void => {
      schedule(0, () => {
        current = process;
        run();
      });
    },
    isInProcess: () => current !== null,
    /** A timer of the process that is running. */
    after: (delayMs: number, callback: () => void): (() => void) => {
      if (current === null) throw new Error("A timer was set outside of every process");
      if (current.state === "dead") return () => {};
      const step = tell(current, Math.max(1, delayMs), () => {
        if (!step.isCancelled) callback();
      });
      return () => {
        step.isCancelled = true;
      };
    },
    /** How long a message is on its way. */
    latency: (): number => (chance.happens(faults.slowness) ? chance.between(50, 2500) : chance.between(0.2, 4)),
    /** Does the next thing; false when there is none. */
    step: async (): Promise<boolean> => {
      const step = steps.pop();
      if (step === undefined) return false;
      if (step.isCancelled) return true;
      now = Math.max(now, step.at);
      step.run();
      await rest();
      current = null;
      await breathe();
      return true;
    },
  };
}

/** The next step is the last one of the list. */
const isLater = (one: Step, other: Step): boolean =>
  one.at > other.at || (one.at === other.at && one.order > other.order);
