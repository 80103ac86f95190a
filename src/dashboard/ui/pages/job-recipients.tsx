import { useState } from "preact/hooks";
import { recipientFilters } from "../../../domain/recipients/recipient-status.ts";
import type { JobAnswer, RecipientAnswer, RecipientPage } from "../api/answers.ts";
import { get, withQuery } from "../api/client.ts";
import { Attempts } from "../parts/attempts.tsx";
import { Choice, Search } from "../parts/field.tsx";
import { LoadedMail } from "../parts/loaded-mail.tsx";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { isMail } from "../reading/kinds.ts";
import { counted, figure } from "../reading/words.ts";
import { changeQuery, place } from "../router.ts";
import { useLoad } from "../use-load.ts";
import { loadLogs } from "./job-logs.ts";

const pageSize = 50;
const refreshMs = 4000;

/** All recipients of a job, a page at a time. */
export function JobRecipients({ job }: { readonly job: JobAnswer }) {
  const { query } = place.value;
  const asked = {
    email: query.get("q") ?? "",
    status: query.get("recipients") ?? "",
    page: Number(query.get("page") ?? "1") || 1,
  };
  const goesOn = job.completedAt === null;
  const question = JSON.stringify([job.id, asked, goesOn || job.progress]);
  const list = useLoad(
    question,
    (signal) =>
      get<RecipientPage>(
        withQuery(`api/jobs/${encodeURIComponent(job.id)}/recipients`, { ...asked, pageSize }),
        signal,
      ),
    goesOn ? refreshMs : null,
  );
  const [open, setOpen] = useState<number | null>(null);
  const rows = list.value?.data ?? [];
  const total = list.value?.pagination.total ?? 0;
  const pages = list.value?.pagination.totalPages ?? 1;
  const goTo = (page: number): void => changeQuery({ page: page === 1 ? null : String(page) });
  return (
    <>
      <search class="filters">
        <Search label="Address" value={asked.email} onChange={(q) => changeQuery({ q, page: null }, "same-step")} />
        <Choice
          label="State"
          value={asked.status}
          options={[["", "any"], ...recipientFilters.map((status) => [status, status] as const)]}
          onChange={(recipients) => changeQuery({ recipients, page: null }, "same-step")}
        />
      </search>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && rows.length === 0 && <Empty title="No recipient matches." />}
      {rows.length > 0 && (
        <Table caption="Recipients" head={["#", "Address", "State", "Attempts", "Last"]}>
          {rows.map((row) => (
            <Row
              key={row.recipient}
              job={job}
              row={row}
              isOpen={open === row.recipient}
              onToggle={() => setOpen(open === row.recipient ? null : row.recipient)}
            />
          ))}
        </Table>
      )}
      <div class="pager">
        <span>{counted(total, "recipient")}</span>
        <button type="button" disabled={asked.page <= 1} onClick={() => goTo(asked.page - 1)}>
          Previous
        </button>
        <span>
          {figure(asked.page)} of {figure(Math.max(pages, 1))}
        </span>
        <button type="button" disabled={asked.page >= pages} onClick={() => goTo(asked.page + 1)}>
          Next
        </button>
      </div>
    </>
  );
}

type RowProps = {
  readonly job: JobAnswer;
  readonly row: RecipientAnswer;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
};

function Row({ job, row, isOpen, onToggle }: RowProps) {
  return (
    <>
      <tr>
        <td>{figure(row.recipient + 1)}</td>
        <td class="wide">
          <button type="button" class="link" aria-expanded={isOpen} onClick={onToggle}>
            {row.email ?? "erased"}
          </button>
        </td>
        <td>
          <Status of={row.status} />
          {row.bouncedAt !== null && <Status of="bounced" />}
          {row.complainedAt !== null && <Status of="complained" />}
          {row.error !== null && <small> {row.error.code}</small>}
        </td>
        <td>{figure(row.attempts)}</td>
        <td>
          <Ago at={row.updatedAt} />
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={5}>
            <Opened job={job} row={row} />
          </td>
        </tr>
      )}
    </>
  );
}

/** The attempts for one recipient, and the mail that was made for it. */
function Opened({ job, row }: { readonly job: JobAnswer; readonly row: RecipientAnswer }) {
  const [isMailShown, setMailShown] = useState(false);
  const found = useLoad(`${job.id} ${row.recipient} ${row.status} ${row.attempts}`, async (signal) => {
    const logs = await loadLogs(job.id, row.email === null ? {} : { email: row.email }, signal);
    return logs.filter(({ recipient }) => recipient === row.recipient);
  });
  if (found.problem !== null) return <ProblemBox problem={found.problem} />;
  if (found.value === null) return <p>Loading…</p>;
  return (
    <>
      <Attempts of={found.value.map((entry) => ({ ...entry, at: entry.createdAt }))} />
      {isMail(job) && row.email !== null && (
        <button type="button" aria-expanded={isMailShown} onClick={() => setMailShown(!isMailShown)}>
          The mail to this recipient
        </button>
      )}
      {isMailShown && <LoadedMail path={`api/jobs/${encodeURIComponent(job.id)}/recipients/${row.recipient}/mail`} />}
    </>
  );
}
