import type { Handover } from "../../src/turns/work-queue.ts";
import { say } from "./wire.ts";
import type { SimulatedProcess, World } from "./world.ts";

type Item<Entry> = {
  readonly entry: Entry;
  visibleAtMs: number;
  isAcknowledged: boolean;
  times: number;
};

export type Delivered<Entry> = Handover & { readonly entry: Entry };

export type Consumer<Entry> = {
  add(entry: Entry): void;
  /** Whatever is there is gone, as when someone deletes the stream. */
  lose(): void;
  /** Whether one is there that was not acknowledged. */
  has(isMeant: (entry: Entry) => boolean): boolean;
  /** Hands over what is there now, in any order. */
  take(process: SimulatedProcess, limit: number, rank: (entry: Entry) => number): readonly Delivered<Entry>[];
  /** Calls back in that process when something came; a hint, which may be lost. */
  onArrival(process: SimulatedProcess, arrived: () => void): () => void;
  isEmpty(): boolean;
  /** How many wait to be handed over. */
  count(): number;
};

/**
 * A durable consumer as the server keeps it: by message, not by delivery, so that the first
 * receiver of a message can acknowledge it, or give it back, while another one is working on it.
 */
export function createConsumer<Entry>(
  world: World,
  ackWaitMs: number,
  nameOf: (entry: Entry) => string,
): Consumer<Entry> {
  const items: Item<Entry>[] = [];
  const listeners = new Set<{ readonly process: SimulatedProcess; readonly arrived: () => void }>();

  const acknowledge = (item: Item<Entry>): void => {
    item.isAcknowledged = true;
    if (!world.strikes(world.faults.repeats)) return;
    world.schedule(world.chance.between(0, 20_000), () => {
      if (world.isHealed() || !items.includes(item)) return;
      world.note(`  ${nameOf(item.entry)} comes back although it was acknowledged`);
      Object.assign(item, { isAcknowledged: false, visibleAtMs: 0 });
    });
  };

  const toDelivery = (process: SimulatedProcess, item: Item<Entry>): Delivered<Entry> => {
    let isSettled = false;
    const tell = (effect: () => void): void => {
      if (!isSettled) say(world, process, () => !item.isAcknowledged && effect());
    };
    const settle = (effect: () => void): void => {
      tell(effect);
      isSettled = true;
    };
    const showAfter = (delayMs: number) => (): void => {
      item.visibleAtMs = world.nowMs() + delayMs;
    };
    return {
      entry: item.entry,
      times: item.times,
      acknowledge: () => settle(() => acknowledge(item)),
      keep: () => tell(showAfter(ackWaitMs)),
      giveBack: (delayMs) => settle(showAfter(delayMs)),
    };
  };

  const visibleItems = (): Item<Entry>[] =>
    items.filter((item) => !item.isAcknowledged && item.visibleAtMs <= world.nowMs());

  return {
    add: (entry) => {
      items.push({ entry, visibleAtMs: 0, isAcknowledged: false, times: 0 });
      for (const { process, arrived } of listeners) {
        if (!world.strikes(world.faults.lostMessages)) world.tell(process, world.latency(), arrived);
      }
    },
    lose: () => void items.splice(0),
    has: (isMeant) => items.some(({ entry, isAcknowledged }) => !isAcknowledged && isMeant(entry)),
    take: (process, limit, rank) => {
      const shuffled = visibleItems().map((item) => ({ item, place: rank(item.entry) + world.chance.next() }));
      const taken = shuffled.sort((one, other) => one.place - other.place).slice(0, limit);
      return taken.map(({ item }) => {
        const isRepeated = world.strikes(world.faults.repeats);
        if (!isRepeated) item.visibleAtMs = world.nowMs() + ackWaitMs;
        item.times += 1;
        world.note(`  ${nameOf(item.entry)} goes to ${process.name}`);
        return toDelivery(process, item);
      });
    },
    onArrival: (process, arrived) => {
      const listener = { process, arrived };
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isEmpty: () => items.every(({ isAcknowledged }) => isAcknowledged),
    count: () => visibleItems().length,
  };
}
