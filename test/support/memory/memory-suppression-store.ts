import { randomBytes } from "node:crypto";
import type { AddressKey, Suppression, SuppressionStore } from "../../../src/suppressions/suppression-store.ts";

/** Keeps the lists as long as the process lives. */
export function createMemorySuppressionStore(): SuppressionStore {
  const secret = randomBytes(32);
  type Stored = AddressKey & { readonly place: number; readonly ofJob: string | undefined; suppression: Suppression };
  const stored = new Map<string, Stored>();
  const removed = new Map<string, string>();
  const keyOf = ({ tenant, digest }: AddressKey): string => `${tenant}.${digest}`;
  let places = 0;
  return {
    secret: async () => secret,
    find: async (key) => stored.get(keyOf(key))?.suppression ?? null,
    put: async (key, suppression, ofJob) => {
      const there = stored.get(keyOf(key));
      if (there !== undefined) return { isNew: false, suppression: there.suppression };
      const removedAt = removed.get(keyOf(key));
      const isOld = removedAt !== undefined && suppression.event !== undefined && suppression.createdAt <= removedAt;
      if (isOld) return { isNew: false, suppression };
      places += 1;
      stored.set(keyOf(key), { ...key, place: places, ofJob, suppression });
      return { isNew: true, suppression };
    },
    remove: async (key, at) => {
      const wasThere = stored.delete(keyOf(key));
      if (wasThere) removed.set(keyOf(key), at);
      return wasThere;
    },
    forget: async (key, ofJob) => {
      const there = stored.get(keyOf(key));
      if (there !== undefined && (ofJob === undefined || there.ofJob === ofJob))
        there.suppression = withoutAddress(there.suppression);
      return there !== undefined;
    },
    page: async (tenant, { after, limit }) => {
      const following = [...stored.values()].filter((entry) => entry.tenant === tenant && entry.place > after);
      const page = following.slice(0, limit);
      return {
        suppressions: page.map(({ suppression }) => suppression),
        next: following.length > limit ? (page.at(-1)?.place ?? null) : null,
      };
    },
  };
}

const withoutAddress = ({ event: _, ...suppression }: Suppression): Suppression => ({ ...suppression, email: null });
