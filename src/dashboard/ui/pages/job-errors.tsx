import type { JobAnswer, LogEntry } from "../api/answers.ts";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { grouped } from "../reading/grouped.ts";
import { counted, figure } from "../reading/words.ts";
import { linkTo } from "../router.ts";
import { useLoad } from "../use-load.ts";
import { loadLogs } from "./job-logs.ts";

const unsent = ["failed", "deferred", "unknown"] as const;
const shownAddresses = 3;

/** The errors of a job, grouped by the answers of the mail servers. */
export function JobErrors({ job }: { readonly job: JobAnswer }) {
  const { failed, deferred, unknown } = job.progress;
  const found = useLoad(`${job.id} ${failed} ${deferred} ${unknown}`, async (signal) => {
    const logs = await Promise.all(unsent.map((status) => loadLogs(job.id, { status }, signal)));
    return logs.flat();
  });
  if (found.problem !== null) return <ProblemBox problem={found.problem} />;
  if (found.value === null) return <p>Loading…</p>;
  if (found.value.length === 0) return <Empty title="No errors in this job." />;
  return (
    <Table caption="Errors, the most frequent first" head={["Outcome", "Reason", "Times", "Recipients"]}>
      {grouped(found.value, reasonOf).map(({ key, rows }) => (
        <tr key={key}>
          <td>
            <Status of={rows[0]?.status ?? "failed"} />
          </td>
          <td class="wide">
            <code>{rows[0]?.error?.code}</code> {rows[0]?.error?.message}
          </td>
          <td>{figure(rows.length)}</td>
          <td>
            <Recipients jobId={job.id} rows={rows} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Details differ between answers of the same kind: queue ids, seconds to wait. Codes stay. */
const reasonOf = ({ status, error }: LogEntry): string =>
  `${status} ${error?.code} ${(error?.message ?? "").replace(/\b(?![2-5]\d\d\b|[245]\.\d+\.\d+)[\w-]*\d[\w-]*\b/g, "…")}`;

function Recipients({ jobId, rows }: { readonly jobId: string; readonly rows: readonly LogEntry[] }) {
  const addresses = [...new Set(rows.map(({ email, recipient }) => email ?? `recipient ${recipient}`))];
  const rest = addresses.length - shownAddresses;
  return (
    <>
      {addresses.slice(0, shownAddresses).map((address) => (
        <div key={address}>
          <a href={linkTo(["jobs", jobId], { q: address })}>{address}</a>
        </div>
      ))}
      {rest > 0 && <small>and {counted(rest, "other")}</small>}
    </>
  );
}
