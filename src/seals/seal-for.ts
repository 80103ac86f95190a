import type { Instant } from "../domain/message.ts";
import { LogFull } from "../event-log/event-log.ts";
import { LogRolledBack } from "./seal-witness.ts";
import type { SealedLog } from "./sealed-log.ts";
import type { Sealer } from "./sealer.ts";

/** However many ask for evidence, the log gets no more seals from it than one in so long. */
const atMostEveryMs = 10_000;

/**
 * Has what is in the log up to a sequence sealed now, so that evidence of it is whole; not again so soon after the last
 * seal. Where there is no room for one, or no sense in one, the evidence says that it is not sealed yet.
 */
export async function sealFor(sealedLog: SealedLog, sealer: Sealer, sequence: number, now: Instant): Promise<void> {
  const last = await sealedLog.lastSeal();
  if (last !== null && (last.to >= sequence || Date.parse(now) - Date.parse(last.sealedAt) < atMostEveryMs)) return;
  try {
    await sealer.sealNow();
  } catch (failure) {
    if (!(failure instanceof LogFull) && !(failure instanceof LogRolledBack)) throw failure;
  }
}
