import type { KV } from "nats";
import { type JobRef, LogFull } from "../event-log/event-log.ts";
import { type BucketSettings, openBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isOutOfRoom, isWrongSequence } from "../nats/errors.ts";
import { countIn, type DayCount, dayOf, emptyDay, type Quota, type QuotaAnswer, type QuotaRequest } from "./quota.ts";

/** Counts of past days expire by themselves. */
const keptMs = 3 * 86_400_000;

/**
 * One entry for each tenant and day. A write succeeds only if the entry has not changed since it was read. The bucket is
 * created at the first request of a tenant with a quota.
 */
export function createJetStreamQuota(connection: JetStreamConnection, settings: BucketSettings): Quota {
  let bucket: Promise<KV> | null = null;
  /** One request at a time for each tenant, so that requests of this process do not conflict with each other. */
  const queues = new Map<string, Promise<unknown>>();

  const open = (): Promise<KV> => {
    bucket ??= openBucket(connection, "QUOTA", settings, { ttl: keptMs }).catch((failure: unknown) => {
      bucket = null;
      throw failure;
    });
    return bucket;
  };
  const take = async (request: QuotaRequest): Promise<QuotaAnswer> => {
    const kv = await open();
    const entry = entryOf(request.job, request.at);
    for (;;) {
      const before = await asking(connection, () => kv.get(entry));
      const { answer, count } = countIn(before === null ? emptyDay : before.json<DayCount>(), request);
      if (count === null || (await write(connection, kv, entry, count, before?.revision ?? 0))) {
        return answer;
      }
    }
  };

  return {
    take: async (request) => {
      const { tenant } = request.job;
      // If NATS is down, a request fails together with those behind it: waiting would not help them.
      const turn = (queues.get(tenant) ?? Promise.resolve()).then(() => take(request));
      queues.set(tenant, turn);
      try {
        return await turn;
      } finally {
        if (queues.get(tenant) === turn) queues.delete(tenant);
      }
    },
  };
}

const entryOf = ({ tenant }: JobRef, at: string): string => `${tenant}.${dayOf(at)}`;

/** False if another process wrote the entry since it was read. */
async function write(
  connection: JetStreamConnection,
  bucket: KV,
  entry: string,
  count: DayCount,
  previousSeq: number,
): Promise<boolean> {
  try {
    await asking(connection, () => bucket.put(entry, JSON.stringify(count), { previousSeq }));
    return true;
  } catch (failure) {
    if (isWrongSequence(failure)) return false;
    if (isOutOfRoom(failure)) throw new LogFull("There is no room to count a tenant's recipients.", { cause: failure });
    throw failure;
  }
}
