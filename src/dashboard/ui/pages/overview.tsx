import { useEffect } from "preact/hooks";
import { durationInWords } from "../../../domain/figures-in-words.ts";
import type { DeadLetterCauses, JobAnswer, JobPage, StatsAnswer } from "../api/answers.ts";
import { withQuery } from "../api/client.ts";
import { loadStats } from "../api/load-stats.ts";
import type { Page } from "../page.ts";
import { RaisedAlerts } from "../parts/alerts.tsx";
import { Bar } from "../parts/bar.tsx";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { ReadModels } from "../parts/read-models.tsx";
import { Section } from "../parts/section.tsx";
import { Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { createEstimates } from "../reading/estimate.ts";
import { titleOf } from "../reading/kinds.ts";
import { duration, figure, percent } from "../reading/words.ts";
import { linkTo } from "../router.ts";
import { useGet, useLoad } from "../use-load.ts";
import { MailRates } from "./overview-mails.tsx";
import { Rates } from "./overview-rates.tsx";

export const overviewPage: Page = {
  path: "overview",
  shortcut: "o",
  title: "Overview",
  needs: ["jobs:read"],
  view: () => <Overview />,
};

const refreshMs = 5000;
const estimates = createEstimates();

function Overview() {
  const stats = useLoad("stats", loadStats, refreshMs);
  return (
    <>
      <h1>Overview</h1>
      <RaisedAlerts stats={stats.value?.ofAll ?? null} />
      {stats.problem !== null && <ProblemBox problem={stats.problem} />}
      {stats.value !== null && <Figures stats={stats.value.own} />}
      <Rates />
      <MailRates />
      <Running />
      <Failures />
      {stats.value !== null && <ReadModels stats={stats.value.own} />}
    </>
  );
}

function Figures({ stats }: { readonly stats: StatsAnswer }) {
  const { jobs, waiting, perMinute, failureRate, bounceRate, complaintRate } = stats;
  const depth = Object.values(waiting).reduce((sum, lane) => sum + lane.jobs, 0);
  const oldest = Math.max(-1, ...Object.values(waiting).map((lane) => lane.oldestAgeSeconds ?? -1));
  const lanes = Object.entries(waiting).map(([priority, lane]) => `${figure(lane.jobs)} ${priority}`);
  const { last5Minutes } = perMinute;
  return (
    <dl class="tiles">
      <Tile
        name="Mails sent"
        value={figure(Math.round(last5Minutes.mailsSent))}
        note="a minute, over the last 5 minutes"
      />
      <Tile
        name="Waiting jobs"
        value={figure(depth)}
        note={lanes.join(", ")}
        link={linkTo(["jobs"], { status: "pending,queued" })}
      />
      <Tile name="Oldest waiting" value={oldest < 0 ? "–" : durationInWords(oldest)} note="longest wait" />
      <Tile
        name="Running"
        value={figure(jobs.processing)}
        note={`${figure(jobs.retrying)} between attempts`}
        link={linkTo(["jobs"], { status: "processing" })}
      />
      <Tile name="Failed mails" value={percent(failureRate?.mails ?? null)} note="in the last hour" />
      <Tile
        name="Came back"
        value={percent(bounceRate)}
        note={`in the last hour; ${percent(complaintRate)} complained`}
      />
      <Tile
        name="Failed jobs"
        value={percent(failureRate?.jobs ?? null)}
        note="in the last hour"
        link={linkTo(["jobs"], { status: "failed" })}
      />
    </dl>
  );
}

type TileProps = { readonly name: string; readonly value: string; readonly note: string; readonly link?: string };

const Tile = ({ name, value, note, link }: TileProps) => (
  <div>
    <dt>{link === undefined ? name : <a href={link}>{name}</a>}</dt>
    <dd>
      {value} <small>{note}</small>
    </dd>
  </div>
);

function Running() {
  const path = withQuery("api/jobs", { status: "processing,retrying,paused", pageSize: 10 });
  const running = useGet<JobPage>(path, 2000);
  const jobs = running.value?.data ?? [];
  useEffect(() => jobs.forEach(estimates.look), [running.value]);
  return (
    <Section name="Running jobs" problem={running.problem}>
      {running.value !== null && jobs.length === 0 && (
        <Empty title="No job is running.">
          <p>
            <a href={linkTo(["compose"])}>Compose a mailing</a>, or look at <a href={linkTo(["jobs"])}>all jobs</a>.
          </p>
        </Empty>
      )}
      {jobs.length > 0 && (
        <Table caption="Running jobs" head={["Subject", "Status", "Progress", "Time left"]}>
          {jobs.map((job) => (
            <tr key={job.id}>
              <td class="wide">
                <a href={linkTo(["jobs", job.id])}>{titleOf(job)}</a>
              </td>
              <td>
                <Status of={job.status} />
              </td>
              <td class="progress">
                <Bar counts={job.progress} />
              </td>
              <td>{timeLeft(job)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

const timeLeft = (job: JobAnswer): string => {
  const seconds = estimates.secondsLeft(job);
  return seconds === null ? "–" : duration(seconds);
};

function Failures() {
  const causes = useGet<DeadLetterCauses>("api/dead-letters/causes?status=open", refreshMs * 2);
  const found = causes.value?.data ?? [];
  if (found.length === 0) return null;
  return (
    <Section name="Failures" title="Failed jobs without a decision">
      <Table caption="Failures by reason" head={["Reason", "Jobs", "In the words of the mail servers"]}>
        {found.map(({ code, cause, letters }) => (
          <tr key={`${code} ${cause}`}>
            <td>
              <a href={linkTo(["dead-letters"], { code, cause })}>{code}</a>
            </td>
            <td>{figure(letters)}</td>
            <td class="wide">{cause}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
