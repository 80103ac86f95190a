import { createSuppressedDigests, type SuppressionEntries } from "../../src/suppressions/suppressed-digests.ts";
import { createSuppressionGuard, type SuppressionGuard } from "../../src/suppressions/suppression-guard.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import type { SuppressionStore } from "../../src/suppressions/suppression-store.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";
import { ask } from "./wire.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** What src/suppressions and src/workers promise: an answer may be a second old, and so may what is done with it. */
const promisedMs = 2000;
const tenant = "default";

/** The suppression list of a world. A history without suppressions never reads it, so that other histories stay as they were. */
export function createSuppressions(world: World, isUsed: boolean) {
  const store = createMemorySuppressionStore();
  const since = new Map<string, number>();
  const digests: string[] = [];
  const hearing = new Set<(digest: string) => void>();

  /** Every request goes over the wire, and every entry is sent to every listener. */
  const entriesOf = (process: SimulatedProcess): SuppressionEntries => ({
    state: () => ask(world, process, "suppressions", async () => ({ createdAt: "once", lastSequence: digests.length })),
    readAfter: async (sequence, tell) => {
      const missed = await ask(world, process, "missed suppressions", async () => digests.slice(sequence));
      for (const digest of missed) tell(digest);
    },
    onEntry: (tell) => {
      const hear = (digest: string): void => {
        if (world.isLogAway() || world.strikes(world.faults.lostMessages)) return;
        world.tell(process, world.latency(), () => tell(digest));
      };
      hearing.add(hear);
      return () => hearing.delete(hear);
    },
  });
  const storeOf = (process: SimulatedProcess): SuppressionStore => ({
    ...store,
    find: (key) => ask(world, process, "a suppression", () => store.find(key)),
  });
  const noBounce = (failure: unknown): void => world.violated(`a hard bounce was lost: ${String(failure)}`);

  return {
    guardOf: (process: SimulatedProcess): SuppressionGuard => {
      const guard = createSuppressionGuard(
        storeOf(process),
        createSuppressedDigests(entriesOf(process)),
        async () => false,
        noBounce,
      );
      return isUsed ? guard : { ...guard, reasonFor: async () => null };
    },
    /** Once it is stored it holds; what promises hang on is the clock of the world. */
    add: (email: string): void => {
      world.note(`${email} unsubscribes`);
      const at = world.nowMs();
      if (!since.has(email)) since.set(email, at);
      const remember: SuppressionStore = {
        ...store,
        put: async (key, suppression) => {
          digests.push(key.digest);
          for (const hear of hearing) hear(key.digest);
          return await store.put(key, suppression);
        },
      };
      void createSuppressionList(remember).add(tenant, email, "unsubscribe", new Date(at).toISOString());
    },
    /** By the lists alone. */
    whyNotToMail: (email: string, atMs: number): string | null => {
      const sinceMs = since.get(email);
      if (sinceMs === undefined || atMs - sinceMs <= promisedMs) return null;
      return `${Math.round(atMs - sinceMs)} ms after it unsubscribed`;
    },
  };
}
