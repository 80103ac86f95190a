import type { ResultRef, ResultStore } from "../content/result-store.ts";
import { namesAddress } from "../domain/recipients/address.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { ErasurePorts } from "./complete-erasure.ts";
import type { AddressErasureRequest } from "./erase-address.ts";
import { eraseJob } from "./erase-job.ts";

export type ReportsErased = {
  readonly erased: number;
  /** Reports with the address in what they have written so far. */
  readonly notEnded: readonly string[];
  /** Of the last decision about one of them; 0 where none was needed. */
  readonly sequence: number;
};

/**
 * Erases every file of a tenant's reports that names an address, as a whole: a file without some of its rows would not be
 * the one that the log tells of. All files are read for it. Asked again, it goes on where it was left.
 */
export async function eraseReports(
  ports: ErasurePorts & { readonly results: Pick<ResultStore, "ofTenant"> },
  tenant: string,
  { address, reason, cause, at }: AddressErasureRequest,
): Promise<ReportsErased> {
  const found = new Map<string, JobRef>();
  for (const result of await ports.results.ofTenant(tenant)) {
    if (!found.has(result.jobId) && (await isNamedIn(ports.results, result, address))) found.set(result.jobId, result);
  }
  const notEnded: string[] = [];
  let [erased, sequence] = [0, 0];
  for (const jobId of found.keys()) {
    const outcome = await eraseJob(ports, { tenant, jobId }, { isRetired: false, reason, cause, at });
    if (outcome.outcome === "rejected") {
      notEnded.push(jobId);
      continue;
    }
    erased += 1;
    sequence = Math.max(sequence, outcome.sequence);
  }
  return { erased, notEnded, sequence };
}

/** A piece ends between two rows, so none hides an address behind its end. */
async function isNamedIn(results: Pick<ResultStore, "get">, result: ResultRef, address: string): Promise<boolean> {
  for (let index = 0; ; index += 1) {
    const chunk = await results.get(result, index);
    if (chunk === null) return false;
    if (namesAddress(Buffer.from(chunk.bytes).toString(), address)) return true;
  }
}
