import { setTimeout as pause } from "node:timers/promises";
import { cell, isSettled, recipientsInDoubt } from "../domain/recipients/ledger.ts";
import { type HelpAnswer, type HelpDone, type HelpRequest, noHelpWanted } from "./help.ts";
import type { Lease, LeaseProbe } from "./lease.ts";
import { noOthers, type Supply } from "./supply.ts";
import type { HeldTurn } from "./turn.ts";

/** The turn of a job, for its holder, and the help that it gets. */
export type SharedTurn = Supply & {
  answer(request: HelpRequest): HelpAnswer;
  /** How many recipients might be passed on. */
  left(): number;
  /** Waits until no helper is at work any more. */
  end(): Promise<void>;
  /** Whether a helper died or was cut off: it may believe in the lease for a moment longer. */
  hasLost(): boolean;
};

/** The help of one worker, as the holder knows it. */
type Help = {
  readonly id: string;
  readonly helper: string;
  readonly granted: number[];
  /** The number of its last request, and what that was answered. */
  part: number;
  last: readonly number[];
  state: "open" | "done" | "lost";
};

type Around = {
  readonly probe: LeaseProbe;
  /** The fewest and the most recipients that are passed on together. */
  readonly leastOfGroup: number;
  readonly mostOfGroup: () => number;
  readonly claimed: (count: number) => void;
  /** Aborts when the process is to stop: it passes nothing on any more. */
  readonly stopping: AbortSignal;
  /** Aborts when the process stops, even if helpers are still at work. */
  readonly giveUp: AbortSignal;
};

/** How often the holder asks whether a helper that it waits for is still there. */
const askEveryMs = 1000;

/**
 * Passes on recipients that the holder has not claimed, and that are not in doubt: those the holder serves itself, as
 * it has to look at the log again for each of them. The more helpers there are and the fewer recipients, the smaller are
 * the groups, so that all end at about the same time.
 */
export function shareTurn(held: HeldTurn, lease: Lease, around: Around): SharedTurn {
  const { probe, leastOfGroup, stopping, giveUp } = around;
  const helps = new Map<string, Help>();
  const doubtful = new Set(recipientsInDoubt(held.ledger));
  let left: number[] = [];
  let isOpen = false;
  let changed: () => void = () => {};

  const openHelps = (): Help[] => [...helps.values()].filter(({ state }) => state === "open");
  const mayBePassedOn = (): number =>
    isOpen && lease.isHeld() && !stopping.aborted ? left.filter((recipient) => !doubtful.has(recipient)).length : 0;
  const mayGrant = (): boolean => mayBePassedOn() > leastOfGroup;
  const takeGroup = (): number[] => {
    const count = mayBePassedOn();
    const fair = Math.ceil(count / (2 * (openHelps().length + 1)));
    const size = Math.min(Math.max(leastOfGroup, Math.min(fair, around.mostOfGroup())), count - leastOfGroup);
    const group: number[] = [];
    for (let place = left.length - 1; place >= 0 && group.length < size; place -= 1) {
      const recipient = left[place] as number;
      if (doubtful.has(recipient)) continue;
      left.splice(place, 1);
      group.push(recipient);
    }
    return group.reverse();
  };
  const begin = (helper: string, id: string): Help => {
    const help: Help = { id, helper, granted: [], part: -1, last: [], state: "open" };
    helps.set(id, help);
    return help;
  };
  const more = (helper: string, id: string, part: number): readonly number[] => {
    const known = helps.get(id);
    if (known === undefined && (part > 0 || !mayGrant())) return [];
    const help = known ?? begin(helper, id);
    if (help.state !== "open") return [];
    if (part === help.part) return help.last;
    if (part !== help.part + 1) return [];
    const group = takeGroup();
    help.granted.push(...group);
    [help.part, help.last] = [part, group];
    return group;
  };
  const finish = ({ helper, help: id, parts, notServed, isClean }: HelpDone): void => {
    const help = helps.get(id);
    // Its first request may come after its last; or it helped under an earlier lease, of which nothing is passed on here.
    if (help === undefined) begin(helper, id).state = "done";
    if (help?.state !== "open") return;
    help.state = isClean ? "done" : "lost";
    left.push(...notServed, ...(help.part >= parts ? help.last : []));
    changed();
  };

  const isGone = async ({ helper, id }: Help): Promise<boolean> =>
    (await probe.ask(helper, { ...held.job, help: id })) !== "running";
  const change = async (): Promise<void> => {
    const waiting = new AbortController();
    const woken = new Promise<void>((resolve) => {
      changed = resolve;
    });
    const until = AbortSignal.any([waiting.signal, giveUp]);
    await Promise.race([woken, pause(askEveryMs, undefined, { signal: until }).catch(() => {})]);
    waiting.abort();
    changed = () => {};
  };
  /** Waits for a helper to end, or to be found gone. */
  const progress = async (): Promise<void> => {
    const before = openHelps();
    await change();
    if (openHelps().length < before.length) return;
    await Promise.all(
      openHelps().map(async (help) => {
        const isLost = giveUp.aborted || (await isGone(help));
        if (isLost && help.state === "open") help.state = "lost";
      }),
    );
  };
  const end = async (): Promise<void> => {
    isOpen = false;
    while (openHelps().length > 0) await progress();
  };
  const isKnown = (recipient: number): boolean => isSettled(held.ledger, recipient);

  return {
    isHelp: false,
    hasLost: () => [...helps.values()].some(({ state }) => state === "lost"),
    left: () => (mayGrant() ? mayBePassedOn() : 0),
    open: (recipients) => {
      left = recipients;
      isOpen = true;
    },
    claimed: (group) => around.claimed(group.length),
    answer: (request) => {
      const { help: id, helper } = request;
      if (request.kind === "more") {
        return { leaseSequence: held.leaseSequence, recipients: more(helper, id, request.part) };
      }
      finish(request);
      return noHelpWanted;
    },
    refill: async () => {
      while (left.length === 0 && openHelps().length > 0 && lease.isHeld() && !stopping.aborted) await progress();
      return left.length > 0;
    },
    end,
    gather: async (recorded) => {
      await end();
      if (helps.size === 0) return noOthers;
      await recorded();
      const read = await held.readLedger();
      held.ledger.cells.set(read.cells);
      const areLost = [...helps.values()].some(({ state, granted }) => state === "lost" && !granted.every(isKnown));
      return { areLost, haveServedAll: !read.cells.some(isOpenCell) };
    },
  };
}

const isOpenCell = (value: number): boolean => value === cell.pending || value === cell.claimed;
