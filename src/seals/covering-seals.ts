import { readSeal } from "./read-seal.ts";
import { faultOfSeal, type StoredSeal } from "./seal.ts";
import type { SealedLog } from "./sealed-log.ts";

/** The log does not give back what was sealed: no honest bundle can be made of it. */
export class EvidenceBroken extends Error {
  override readonly name = "EvidenceBroken";
}

/**
 * The seals whose ranges hold any of these sequences (which ascend), in order; none for those that are not sealed yet.
 * A job can stand at both ends of a log, with a hundred thousand seals between: those are neither read nor checked. A
 * seal stands behind its range, so the one of an event is among the first behind that event.
 */
export async function* coveringSeals(
  sealedLog: Pick<SealedLog, "messages" | "isPassed">,
  sequences: readonly number[],
): AsyncGenerator<StoredSeal> {
  let next = 0;
  for (;;) {
    const begin = next;
    for await (const batch of sealedLog.messages(sequences[next] ?? 0, "seals")) {
      for (const message of batch) {
        if (message.sequence <= (sequences[next] ?? 0)) continue;
        const seal = readSeal(message);
        if (seal === null && (await sealedLog.isPassed(message))) continue;
        if (seal === null) throw new EvidenceBroken(`There is no seal at ${message.sequence}.`);
        if (seal.to < (sequences[next] ?? 0)) continue;
        if (faultOfSeal(seal) !== null) throw new EvidenceBroken(`There is no seal at ${message.sequence}.`);
        if (seal.from <= (sequences[next] ?? 0)) yield seal;
        while ((sequences[next] ?? Number.POSITIVE_INFINITY) <= seal.to) next += 1;
        if (next === sequences.length) return;
      }
      // What comes after the next event is asked for anew.
      if ((sequences[next] ?? 0) > (batch.at(-1)?.sequence ?? 0)) break;
    }
    if (next === begin) return;
  }
}
