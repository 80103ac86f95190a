import type { CheckpointStore, StoredCheckpoint } from "../../src/event-log/following/checkpoint-store.ts";
import { ask } from "./wire.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** The checkpoints of a world's listeners, and the way to them that each process has. */
export function createCheckpoints(world: World) {
  const stored = new Map<string, StoredCheckpoint>();
  let revision = 0;
  return {
    storeOf: (process: SimulatedProcess): CheckpointStore => ({
      read: (name) => ask(world, process, `read checkpoint ${name}`, async () => stored.get(name) ?? null),
      write: (name, text, before) =>
        ask(world, process, `write checkpoint ${name}`, async () => {
          if ((stored.get(name)?.revision ?? 0) !== before) return null;
          revision += 1;
          stored.set(name, { revision, text });
          return revision;
        }),
    }),
    /** The sequence up to which everything is done. */
    reached: (name: string): number => JSON.parse(stored.get(name)?.text ?? "{}").position?.sequence ?? 0,
  };
}
