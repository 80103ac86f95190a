import { useEffect, useState } from "preact/hooks";
import { jobStatuses } from "../../../domain/job/job-view.ts";
import type { JobAnswer, StatsAnswer } from "../api/answers.ts";
import type { Page } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { Search, TimeField } from "../parts/field.tsx";
import { Foldable } from "../parts/foldable.tsx";
import { ListPager } from "../parts/list-pager.tsx";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { doneInWords, titleOf } from "../reading/kinds.ts";
import { figure, toLocal } from "../reading/words.ts";
import { changeQuery, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useGet, useLoad } from "../use-load.ts";
import { Job } from "./job.tsx";
import { Bulk } from "./jobs-bulk.tsx";
import { ExportJobs } from "./jobs-export.tsx";
import { filterNames, type JobFilter, loadJobs, readFilter } from "./jobs-list.ts";

export const jobsPage: Page = {
  path: "jobs",
  shortcut: "j",
  title: "Jobs",
  needs: ["jobs:read"],
  view: ({ parts: [jobId] }) => (jobId === undefined ? <Jobs /> : <Job key={jobId} jobId={jobId} />),
};

const refreshMs = 5000;
const firstCommand = `curl -s ${location.origin}/api/jobs -H 'Content-Type: application/json' -d '{
  "subject": "Hello from Waybill", "body": "<p>It works.</p>",
  "recipients": ["ada@example.com", "bob@example.com"]
}'`;

const noneMatches = "No job matches these filters.";
/** A search looks through some of the jobs at a time. */
const noneYet = "No job so far matches these filters. Older jobs have not been searched.";

function Jobs() {
  const { query } = place.value;
  const filter = readFilter(query);
  const cursor = query.get("cursor");
  const question = JSON.stringify([filter, cursor]);
  const list = useLoad(question, (signal) => loadJobs(filter, { cursor, signal }), refreshMs);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  // A selection must not include jobs that the filters hide.
  useEffect(() => setSelected(new Set()), [JSON.stringify(filter)]);
  const jobs = list.value?.data ?? [];
  const total = list.value === null ? 0 : list.value.pagination.total;
  // A count for other filters must not appear on a button that acts by these.
  const matching = list.isStale ? 0 : total;
  const next = list.value?.pagination.nextCursor ?? null;
  const isFiltered = filterNames.some((name) => filter[name].trim() !== "");

  const select = (ids: readonly string[], isSelected: boolean): void => {
    const after = new Set(selected);
    for (const id of ids) isSelected ? after.add(id) : after.delete(id);
    setSelected(after);
  };

  return (
    <>
      <div class="title">
        <h1>Jobs</h1>
        <ExportJobs filter={filter} total={matching} />
      </div>
      <Foldable title="Filters and actions">
        <Filters filter={filter} />
        {can("jobs:write") && (
          <Bulk
            filter={isFiltered && matching !== null ? filter : null}
            total={matching ?? 0}
            selected={selected}
            onDone={() => {
              setSelected(new Set());
              list.reload();
            }}
          />
        )}
      </Foldable>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && jobs.length === 0 && (
        <Empty
          title={!isFiltered ? "There is no job yet." : next === null ? noneMatches : noneYet}
          {...(isFiltered ? {} : { command: firstCommand })}
        />
      )}
      {jobs.length > 0 && <JobTable jobs={jobs} selected={selected} onSelect={select} />}
      <ListPager total={total} nextCursor={next} />
    </>
  );
}

function Filters({ filter }: { readonly filter: JobFilter }) {
  const counts = useGet<StatsAnswer>("api/stats", refreshMs).value?.jobs ?? null;
  const chosen = filter.status.split(",").filter(Boolean);
  const toggle = (status: string): void => {
    const after = chosen.includes(status) ? chosen.filter((one) => one !== status) : [...chosen, status];
    changeQuery({ status: after.join(","), cursor: null });
  };
  const isoOf = (local: string): string => (local === "" ? "" : new Date(local).toISOString());
  return (
    <search class="filters">
      <fieldset class="chips">
        <legend>Status, with the number of all jobs in it</legend>
        {jobStatuses.map((status) => (
          <button key={status} type="button" aria-pressed={chosen.includes(status)} onClick={() => toggle(status)}>
            {status} {counts !== null && <small>{figure(counts[status])}</small>}
          </button>
        ))}
      </fieldset>
      <Search
        label="Subject or name"
        value={filter.q}
        onChange={(q) => changeQuery({ q, cursor: null }, "same-step")}
      />
      <TimeField
        label="Created after"
        value={toLocal(filter.createdAfter)}
        onChange={(value) => changeQuery({ createdAfter: isoOf(value), cursor: null }, "same-step")}
      />
      <TimeField
        label="Created before"
        value={toLocal(filter.createdBefore)}
        onChange={(value) => changeQuery({ createdBefore: isoOf(value), cursor: null }, "same-step")}
      />
    </search>
  );
}

type TableProps = {
  readonly jobs: readonly JobAnswer[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (ids: readonly string[], isSelected: boolean) => void;
};

function JobTable({ jobs, selected, onSelect }: TableProps) {
  const ids = jobs.map(({ id }) => id);
  const all = (
    <input
      type="checkbox"
      aria-label="Select all on this page"
      checked={ids.every((id) => selected.has(id))}
      onChange={(event) => onSelect(ids, event.currentTarget.checked)}
    />
  );
  const head = [...(can("jobs:write") ? [all] : []), "Subject", "Status", "Progress", "Created"];
  return (
    <Table caption="Jobs, the newest first" head={head}>
      {jobs.map((job) => (
        <tr key={job.id}>
          {can("jobs:write") && (
            <td>
              <input
                type="checkbox"
                aria-label={`Select ${titleOf(job)}`}
                checked={selected.has(job.id)}
                onChange={(event) => onSelect([job.id], event.currentTarget.checked)}
              />
            </td>
          )}
          <td class="wide">
            <a href={linkTo(["jobs", job.id])}>{titleOf(job)}</a>
            {job.subject !== null && job.name !== null && <small> {job.subject}</small>}
          </td>
          <td>
            <Status of={job.status} />
            {job.error !== null && <small> {job.error.code}</small>}
          </td>
          <td class="progress">
            <Bar counts={job.progress} />
            <small>{doneInWords(job)}</small>
          </td>
          <td>
            <Ago at={job.createdAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
