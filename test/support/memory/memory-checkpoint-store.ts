import type { CheckpointStore, StoredCheckpoint } from "../../../src/event-log/following/checkpoint-store.ts";

export function createMemoryCheckpointStore(): CheckpointStore {
  const stored = new Map<string, StoredCheckpoint>();
  let revision = 0;
  return {
    read: async (name) => stored.get(name) ?? null,
    write: async (name, text, before) => {
      if ((stored.get(name)?.revision ?? 0) !== before) return null;
      revision += 1;
      stored.set(name, { revision, text });
      return revision;
    },
  };
}
