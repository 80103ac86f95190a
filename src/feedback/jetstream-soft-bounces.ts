import { Type } from "typebox";
import { type BucketSettings, changeEntry, openBucket, streamOfBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { nameWith } from "../nats/names.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { type SoftBounceStore, withBounce } from "./soft-bounces.ts";

const bucketName = "SOFT_BOUNCES";
const dayMs = 24 * 60 * 60 * 1000;
const nanosecondsOfMs = 1_000_000;

/** One entry for each address that bounced lately; the server drops it when `days` have passed since the last bounce. */
export async function createJetStreamSoftBounces(
  connection: JetStreamConnection,
  settings: BucketSettings,
  days: number,
): Promise<SoftBounceStore> {
  const bucket = await openBucket(connection, bucketName, settings, { ttl: days * dayMs });
  await keepFor(connection, streamOfBucket(nameWith(settings.prefix, bucketName)), days);
  return {
    note: async ({ tenant, digest }, bounce) => {
      const { bounces } = await changeEntry(connection, bucket, `${tenant}.${digest}`, (text) => {
        const before = text === null || text === "" ? [] : check(JSON.parse(text));
        const after = withBounce(before, bounce, days);
        return { bounces: after, text: after === before ? null : JSON.stringify(after) };
      });
      return bounces.length;
    },
  };
}

/** A bucket that is there already has the time of the setting that it was made with. */
async function keepFor(connection: JetStreamConnection, stream: string, days: number): Promise<void> {
  const { streams } = await asking(connection, () => connection.nats.jetstreamManager({ checkAPI: false }));
  const { config } = await asking(connection, () => streams.info(stream));
  const max_age = days * dayMs * nanosecondsOfMs;
  if (config.max_age !== max_age) await asking(connection, () => streams.update(stream, { ...config, max_age }));
}

const check = checkedBy(Type.Array(Type.Object({ id: Type.String(), at: Type.String() })));
