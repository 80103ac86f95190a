import { useEffect, useRef, useState } from "preact/hooks";
import type { JobAnswer } from "../api/answers.ts";
import { toProblem } from "../api/problem.ts";
import { tell } from "../parts/messages.tsx";
import { toCsvLine } from "../reading/csv.ts";
import { download } from "../reading/download.ts";
import { figure } from "../reading/words.ts";
import { allJobs, type JobFilter } from "./jobs-list.ts";

const columns = [
  "id",
  "status",
  "name",
  "subject",
  "type",
  "priority",
  "total",
  "sent",
  "failed",
  "pending",
  "deferred",
  "unknown",
  "createdAt",
  "startedAt",
  "completedAt",
  "error",
];

const cellsOf = (job: JobAnswer): readonly string[] => {
  const { total, sent, failed, pending, deferred, unknown } = job.progress;
  const counts = [total, sent, failed, pending, deferred, unknown].map(String);
  const labels = [job.id, job.status, job.name ?? "", job.subject ?? "", job.type, job.priority];
  return [...labels, ...counts, job.createdAt, job.startedAt ?? "", job.completedAt ?? "", job.error?.code ?? ""];
};

const formats = {
  csv: { type: "text/csv", head: toCsvLine(columns), line: (job: JobAnswer) => toCsvLine(cellsOf(job)) },
  ndjson: { type: "application/x-ndjson", head: "", line: (job: JobAnswer) => `${JSON.stringify(job)}\n` },
};

/** Exports all matching jobs, as a file that this page assembles. */
export function ExportJobs({ filter, total }: { readonly filter: JobFilter; readonly total: number | null }) {
  const [count, setCount] = useState<number | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const run = async (name: keyof typeof formats): Promise<void> => {
    const { type, head, line } = formats[name];
    const going = new AbortController();
    stop.current = going;
    const parts = [head];
    try {
      let done = 0;
      setCount(done);
      for await (const jobs of allJobs(filter, going.signal)) {
        parts.push(jobs.map(line).join(""));
        done += jobs.length;
        setCount(done);
      }
      if (!going.signal.aborted) download(`jobs.${name}`, type, parts);
    } catch (failure) {
      if (!going.signal.aborted) tell(`Not exported: ${toProblem(failure).message}`);
    } finally {
      setCount(null);
    }
  };
  return count === null ? (
    <div class="buttons">
      <button type="button" disabled={total === 0} onClick={() => void run("csv")}>
        Export CSV
      </button>
      <button type="button" disabled={total === 0} onClick={() => void run("ndjson")}>
        Export NDJSON
      </button>
    </div>
  ) : (
    <div class="buttons" role="status">
      {total === null ? figure(count) : `${figure(count)} of ${figure(total)}`} read
      <button type="button" onClick={() => stop.current?.abort()}>
        Stop
      </button>
    </div>
  );
}
