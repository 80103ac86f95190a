import { Type } from "typebox";
import { reportSources } from "../domain/recipients/feedback.ts";
import { type BucketSettings, openBucket, readEntries } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isOutOfRoom } from "../nats/errors.ts";
import { nameWith } from "../nats/names.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { createAllowance, type UnattributedReports } from "./unattributed.ts";

const bucketName = "BOUNCES";
const dayMs = 24 * 60 * 60 * 1000;
const keptDays = 30;
/** Some thousand reports. */
const maxBytes = 4 * 1024 * 1024;

export async function createJetStreamUnattributed(
  connection: JetStreamConnection,
  settings: BucketSettings,
): Promise<UnattributedReports> {
  const bucket = await openBucket(connection, bucketName, settings, { ttl: keptDays * dayMs, max_bytes: maxBytes });
  const mayKeep = createAllowance();
  return {
    keep: async (reportSha256, report) => {
      if (!mayKeep()) return;
      try {
        await asking(connection, () => bucket.put(reportSha256, JSON.stringify(report)));
      } catch (failure) {
        // The oldest go after a month; until then no more are kept.
        if (!isOutOfRoom(failure)) throw failure;
      }
    },
    list: async () => {
      const entries = await readEntries(connection, nameWith(settings.prefix, bucketName));
      return entries
        .map(({ name, text }) => ({ reportSha256: name, ...check(JSON.parse(text)) }))
        .sort((one, other) => other.receivedAt.localeCompare(one.receivedAt));
    },
  };
}

const text = Type.String();
const check = checkedBy(
  Type.Object({
    receivedAt: text,
    source: Type.Enum([...reportSources]),
    feedback: text,
    diagnostic: text,
    bytes: Type.Integer(),
  }),
);
