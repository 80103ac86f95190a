import { hash } from "node:crypto";
import type { KV } from "nats";
import type { Throttle } from "../../domain/throttles/throttle.ts";
import { type BucketSettings, changeEntry, openBucket, streamOfBucket, subjectsOfBucket } from "../../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../../nats/connection.ts";
import { lastMessageOf } from "../../nats/jetstream-api.ts";
import { nameWith } from "../../nats/names.ts";
import { openLazily } from "../../nats/open-lazily.ts";
import { readOn } from "../../nats/read-subject.ts";
import type { ThrottleEntry, ThrottleStore } from "./throttle-store.ts";

/** Longer than any receiver is slowed down without a refusal: what no worker ends goes by itself. */
const ttlMs = 2 * 3_600_000;

/** An entry is one receiver; a freed one stays for a while, so that the other workers hear of it. */
export function createJetStreamThrottleStore(connection: JetStreamConnection, settings: BucketSettings): ThrottleStore {
  const name = nameWith(settings.prefix, "THROTTLES");
  const [stream, all] = [streamOfBucket(name), subjectsOfBucket(name)];
  const open = () => openLazily(() => openBucket(connection, "THROTTLES", settings, { ttl: ttlMs }));
  let bucket = open();
  let known = 0;
  const readChanges = async (): Promise<readonly ThrottleEntry[]> => {
    await bucket();
    const last = (await asking(connection, () => lastMessageOf(connection, stream, all)))?.sequence ?? 0;
    // The bucket was made anew.
    if (last < known) known = 0;
    if (last === known) return [];
    const messages = await readOn(connection, stream, all, known + 1, last);
    known = last;
    return messages.map(({ data }) => decode(Buffer.from(data).toString())).filter((entry) => entry !== null);
  };
  return {
    change: async (route, receiver, toThrottle) => {
      const opened: KV = await bucket();
      const { after } = await changeEntry(connection, opened, keyOf(route, receiver), (text) => {
        const before = text === null ? null : (decode(text)?.throttle ?? null);
        const after = toThrottle(before);
        const isSame = JSON.stringify(before) === JSON.stringify(after);
        return { after, text: isSame ? null : JSON.stringify({ route, receiver, throttle: after }) };
      });
      return after;
    },
    changes: async () => {
      try {
        return await readChanges();
      } catch (failure) {
        // It may have been deleted.
        bucket = open();
        throw failure;
      }
    },
    onChange: (heard) => {
      const subscription = connection.nats.subscribe(all, { callback: heard });
      const stopWaitingForReconnects = connection.onReconnect(heard);
      return () => {
        stopWaitingForReconnects();
        if (!connection.nats.isClosed()) subscription.unsubscribe();
      };
    },
  };
}

/** Domains may have letters that a key must not have, and be longer. */
const keyOf = (route: string, receiver: string): string => hash("sha256", `${route} ${receiver}`).slice(0, 32);

/** Null for what another release may have written. */
function decode(text: string): ThrottleEntry | null {
  try {
    const { route, receiver, throttle } = JSON.parse(text) as Partial<ThrottleEntry>;
    if (typeof route !== "string" || typeof receiver !== "string") return null;
    return { route, receiver, throttle: isThrottle(throttle) ? throttle : null };
  } catch {
    return null;
  }
}

const figures = [
  "window",
  "perSecond",
  "refusedPace",
  "refusingSince",
  "growthMs",
  "freePace",
  "rounds",
  "refusedAt",
  "slowedAt",
  "pausedUntil",
] as const;

const isThrottle = (value: unknown): value is Throttle =>
  typeof value === "object" && value !== null && figures.every((name) => Number.isFinite((value as Throttle)[name]));
