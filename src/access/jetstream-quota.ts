import type { JobRef } from "../event-log/event-log.ts";
import { LogFull } from "../event-log/log-failures.ts";
import { type BucketSettings, changeEntry, openBucket } from "../nats/bucket.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { isOutOfRoom } from "../nats/errors.ts";
import { openLazily } from "../nats/open-lazily.ts";
import { countIn, type DayCount, dayOf, emptyDay, type Quota, type QuotaAnswer, type QuotaRequest } from "./quota.ts";

/** Counts of past days expire by themselves. */
const keptMs = 3 * 86_400_000;

/**
 * One entry for each tenant and day. A write succeeds only if the entry has not changed since it was read. The bucket is
 * created at the first request of a tenant with a quota.
 */
export function createJetStreamQuota(connection: JetStreamConnection, settings: BucketSettings): Quota {
  const open = openLazily(() => openBucket(connection, "QUOTA", settings, { ttl: keptMs }));
  /** One request at a time for each tenant, so that requests of this process do not conflict with each other. */
  const queues = new Map<string, Promise<unknown>>();

  const take = async (request: QuotaRequest): Promise<QuotaAnswer> => {
    const kv = await open();
    try {
      const { answer } = await changeEntry(connection, kv, entryOf(request.job, request.at), (before) => {
        const day: DayCount = before === null ? emptyDay : JSON.parse(before);
        const { answer, count } = countIn(day, request);
        return { answer, text: count === null ? null : JSON.stringify(count) };
      });
      return answer;
    } catch (failure) {
      if (!isOutOfRoom(failure)) throw failure;
      throw new LogFull("There is no room to count a tenant's recipients.", { cause: failure });
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
