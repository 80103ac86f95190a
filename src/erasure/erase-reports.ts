import type { ResultRef, ResultStore } from "../content/result-store.ts";
import { namesAddress } from "../domain/recipients/address.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { isOutage } from "../event-log/persistently.ts";
import type { ErasurePorts } from "./complete-erasure.ts";
import type { AddressErasureRequest } from "./erase-address.ts";
import { eraseJob } from "./erase-job.ts";

export type ReportsErased = {
  readonly erased: number;
  /** Unfinished reports whose file names the address so far. */
  readonly notEnded: readonly string[];
  /** The sequence of the last decision about one of them; 0 if none was needed. */
  readonly sequence: number;
  /** Of reports that cannot be erased, such as one in a file of the archive that is not at hand. They stop no others. */
  readonly failures: readonly unknown[];
};

/**
 * Erases every file of a tenant's reports that names an address. It erases whole files, because a file without some of
 * its rows would not match the log. It reads all files; a repeated call goes on where the last one stopped.
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
  const failures: unknown[] = [];
  let [erased, sequence] = [0, 0];
  for (const jobId of found.keys()) {
    const asked = { isRetired: false, reason, cause, at };
    const outcome = await eraseJob(ports, { tenant, jobId }, asked).catch((failure: unknown) => {
      // It concerns all the others, too.
      if (isOutage(failure)) throw failure;
      failures.push(failure);
      return null;
    });
    if (outcome === null) continue;
    if (outcome.outcome === "rejected") {
      notEnded.push(jobId);
      continue;
    }
    erased += 1;
    sequence = Math.max(sequence, outcome.sequence);
  }
  return { erased, notEnded, sequence, failures };
}

/** Chunks end between two rows, so no address is split between two chunks. */
async function isNamedIn(
  results: Pick<ResultStore, "get" | "piecesOf">,
  result: ResultRef,
  address: string,
): Promise<boolean> {
  for (const { run, index } of await results.piecesOf(result)) {
    const chunk = run === result.run ? await results.get(result, index) : null;
    if (chunk !== null && namesAddress(Buffer.from(chunk.bytes).toString(), address)) return true;
  }
  return false;
}
