import { allProjectors } from "../../projections/all-projectors.ts";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { carryOutRebuilds } from "../../projections/rebuilding/carry-out-rebuilds.ts";
import { keepPolling } from "../poll-loop.ts";
import { createOutageReport } from "./outage-report.ts";
import type { Parts } from "./parts.ts";

const pollEveryMs = 2000;

/** Rebuilds the read models that operators ask for, beside the projectors of this process. */
export function startRebuilds({ db, log, contentStore, announcements, logger, lifecycle }: Parts): void {
  const stopping = new AbortController();
  const report = createOutageReport(logger, "rebuilds");
  const sources = { readContent: createContentReader(contentStore) };
  const asked = { db, log, sources, announcements, projectors: allProjectors, logger, report };
  const poll = async (): Promise<"done"> => {
    await carryOutRebuilds(asked, stopping.signal);
    return "done";
  };
  const loop = keepPolling({ poll, everyMs: pollEveryMs, report }, stopping.signal);
  lifecycle.started("the rebuilds", async () => {
    stopping.abort();
    await loop;
  });
}
