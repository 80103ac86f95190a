import { createSealMemory } from "../../projections/seal-memory.ts";
import type { CompleteConfig } from "../config.ts";
import { createDatabase } from "../database/database.ts";
import { streamName } from "../event-log/subjects.ts";
import { type Finding, fine, serious, warning, wordsOf } from "../health/finding.ts";
import { connectJetStream } from "../nats/connection.ts";
import { createJetStreamSealedLog } from "../seals/jetstream-sealed-log.ts";
import { createSealFile } from "../seals/seal-file.ts";
import { LogRolledBack } from "../seals/seal-witness.ts";
import { askWitnesses } from "../seals/sealer.ts";

const advice =
  "Make sure that it is the right log. After a restore: waybill rebuild, waybill seals accept (ops/guides/operator.md).";

/**
 * Whether the log still holds the last seal that was seen in it: one that was put back to an earlier state says nothing
 * of it. Both servers have to be there; nothing is found where nobody remembers a seal.
 */
export async function examineSeals({ nats, mysqlUrl, natsPrefix, seals }: CompleteConfig): Promise<readonly Finding[]> {
  const connection = await connectJetStream(nats, "waybill-doctor", () => {});
  const db = createDatabase(mysqlUrl);
  try {
    const witnesses = [
      createSealMemory(db, streamName(natsPrefix, "JOBS")),
      ...(seals.file === null ? [] : [createSealFile(seals.file)]),
    ];
    const seen = await Promise.all(witnesses.map((witness) => witness.last().catch(() => null)));
    if (seen.every((seal) => seal === null)) return [];
    const sealedLog = await createJetStreamSealedLog(connection, natsPrefix);
    await askWitnesses({ sealedLog, witnesses, report: () => {} });
    return [fine("nats", "The log holds the last seal that was seen in it")];
  } catch (failure) {
    if (failure instanceof LogRolledBack) return [serious("nats", failure.what, advice)];
    return [warning("nats", `What the log was sealed with cannot be read: ${wordsOf(failure)}`, advice)];
  } finally {
    await db.destroy();
    await connection.close();
  }
}
