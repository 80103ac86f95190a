import type { Delivery } from "../../src/event-log/delivery.ts";
import type { StoredEvent, WaybillEvent } from "../../src/event-log/event-log.ts";
import { say } from "./wire.ts";
import type { SimulatedProcess, World } from "./world.ts";

type Item<Event extends WaybillEvent> = {
  readonly entry: StoredEvent<Event>;
  visibleAtMs: number;
  isAcknowledged: boolean;
  times: number;
};

export type Consumer<Event extends WaybillEvent> = {
  add(entry: StoredEvent<Event>): void;
  /** Hands over what is there now, in any order. */
  take(process: SimulatedProcess, limit: number, rank: (event: Event) => number): readonly Delivery<Event>[];
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
export function createConsumer<Event extends WaybillEvent>(world: World, ackWaitMs: number): Consumer<Event> {
  const items: Item<Event>[] = [];
  const listeners = new Set<{ readonly process: SimulatedProcess; readonly arrived: () => void }>();

  const acknowledge = (item: Item<Event>): void => {
    item.isAcknowledged = true;
    if (!world.strikes(world.faults.repeats)) return;
    world.schedule(world.chance.between(0, 20_000), () => {
      if (world.isHealed()) return;
      world.note(`  #${item.entry.sequence} comes back although it was acknowledged`);
      Object.assign(item, { isAcknowledged: false, visibleAtMs: 0 });
    });
  };

  const toDelivery = (process: SimulatedProcess, item: Item<Event>): Delivery<Event> => {
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

  const visibleItems = (): Item<Event>[] =>
    items.filter((item) => !item.isAcknowledged && item.visibleAtMs <= world.nowMs());

  return {
    add: (entry) => {
      items.push({ entry, visibleAtMs: 0, isAcknowledged: false, times: 0 });
      for (const { process, arrived } of listeners) {
        if (!world.strikes(world.faults.lostMessages)) world.tell(process, world.latency(), arrived);
      }
    },
    take: (process, limit, rank) => {
      const shuffled = visibleItems().map((item) => ({ item, place: rank(item.entry.event) + world.chance.next() }));
      const taken = shuffled.sort((one, other) => one.place - other.place).slice(0, limit);
      return taken.map(({ item }) => {
        const isRepeated = world.strikes(world.faults.repeats);
        if (!isRepeated) item.visibleAtMs = world.nowMs() + ackWaitMs;
        item.times += 1;
        world.note(`  #${item.entry.sequence} ${item.entry.event.type} goes to ${process.name}`);
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
