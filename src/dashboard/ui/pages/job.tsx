import { useEffect, useRef, useState } from "preact/hooks";
import type { JobAnswer } from "../api/answers.ts";
import { get } from "../api/client.ts";
import { follow } from "../api/follow.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import { Bar, BarLegend } from "../parts/bar.tsx";
import { ProblemBox } from "../parts/messages.tsx";
import { Ago, Fact, Status } from "../parts/status.tsx";
import { type Tab, Tabs } from "../parts/tabs.tsx";
import { Why } from "../parts/why.tsx";
import { createEstimates } from "../reading/estimate.ts";
import { doneInWords, isMail, isReport, titleOf } from "../reading/kinds.ts";
import { between, duration } from "../reading/words.ts";
import { changeQuery, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useLoad } from "../use-load.ts";
import { hasEnded, JobActions } from "./job-actions.tsx";
import { JobErrors } from "./job-errors.tsx";
import { JobFiles } from "./job-files.tsx";
import { JobHistory } from "./job-history.tsx";
import { JobRecipients } from "./job-recipients.tsx";

/** One job, live. */
export function Job({ jobId }: { readonly jobId: string }) {
  const first = useLoad(`job ${jobId}`, (signal) => get<JobAnswer>(`api/jobs/${encodeURIComponent(jobId)}`, signal));
  const live = useLiveJob(jobId, first.value !== null);
  const job = live.job ?? first.value;
  if (job === null) return first.problem === null ? <p>Loading…</p> : <ProblemBox problem={first.problem} />;
  const tabs: readonly Tab[] = [
    ...(isReport(job) ? [] : [{ id: "recipients", title: "Recipients", view: () => <JobRecipients job={job} /> }]),
    { id: "errors", title: "Errors", view: () => <JobErrors job={job} /> },
    ...(can("events:read") ? [{ id: "history", title: "History", view: () => <JobHistory job={job} /> }] : []),
  ];
  return (
    <>
      <p class="path">
        <a href={linkTo(["jobs"])}>Jobs</a> / <code>{job.id}</code>
      </p>
      <div class="title">
        <h1>{titleOf(job)}</h1>
        <JobActions job={job} onChanged={live.take} />
      </div>
      {live.problem !== null && <ProblemBox problem={live.problem} />}
      <Summary job={job} perSecond={live.perSecond} secondsLeft={live.secondsLeft} />
      {!hasEnded(job.status) && <Why path={`api/jobs/${encodeURIComponent(job.id)}`} status={job.status} />}
      <JobFiles job={job} onChanged={live.take} />
      <Tabs
        label="About this job"
        tabs={tabs}
        chosen={place.value.query.get("tab") ?? "recipients"}
        onChoose={(tab) => changeQuery({ tab, at: null }, "same-step")}
      />
    </>
  );
}

/** The job as its stream reports it, from now until it has ended. */
function useLiveJob(jobId: string, isThere: boolean) {
  const [job, setJob] = useState<JobAnswer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  const estimates = useRef(createEstimates());
  const take = (changed: JobAnswer): void => {
    estimates.current.look(changed);
    setJob(changed);
  };

  // A retried job is followed again.
  useEffect(() => {
    if (!isThere) return;
    const going = new AbortController();
    // The stream sends up to 20 messages a second, of which only the last of a frame is visible.
    let newest: JobAnswer | null = null;
    const show = (): void => {
      if (newest !== null) take(newest);
      newest = null;
    };
    const onMessage = (_event: string, data: unknown): void => {
      if (newest === null) requestAnimationFrame(show);
      newest = data as JobAnswer;
    };
    follow(`api/jobs/${encodeURIComponent(jobId)}/stream`, { onMessage, onTrouble: setProblem }, going.signal).catch(
      (failure: unknown) => setProblem(toProblem(failure)),
    );
    return () => going.abort();
  }, [jobId, isThere, round]);

  const { perSecond, secondsLeft } = estimates.current;
  return {
    job,
    problem,
    perSecond: job === null ? null : perSecond(job),
    secondsLeft: job === null ? null : secondsLeft(job),
    take: (changed: JobAnswer): void => {
      take(changed);
      setRound((before) => before + 1);
    },
  };
}

type SummaryProps = {
  readonly job: JobAnswer;
  readonly perSecond: number | null;
  readonly secondsLeft: number | null;
};

function Summary({ job, perSecond, secondsLeft }: SummaryProps) {
  return (
    <section class="box" aria-label="Progress of the job">
      <Bar counts={job.progress} />
      <BarLegend counts={job.progress} />
      <dl class="facts">
        <Fact name="Status">
          <Status of={job.status} /> {waitingFor(job)}
        </Fact>
        {perSecond !== null && <Fact name="Speed">{perSecond.toFixed(perSecond < 10 ? 1 : 0)} a second</Fact>}
        {secondsLeft !== null && <Fact name="Time left">{duration(secondsLeft)}</Fact>}
        {!isMail(job) && <Fact name={job.type}>{doneInWords(job)}</Fact>}
        <Fact name="Attempt">
          {job.attempt <= job.maxAttempts ? `${job.attempt} of ${job.maxAttempts}` : job.attempt}
        </Fact>
        <Fact name="Priority">{job.priority}</Fact>
        <Fact name="Created">
          <Ago at={job.createdAt} />
        </Fact>
        {job.scheduledAt !== null && (
          <Fact name="Scheduled">
            <Ago at={job.scheduledAt} />
          </Fact>
        )}
        {job.startedAt !== null && (
          <Fact name="Started">
            <Ago at={job.startedAt} />
          </Fact>
        )}
        {job.startedAt !== null && (
          <Fact name="Waited">{between(job.scheduledAt ?? job.createdAt, job.startedAt)}</Fact>
        )}
        {job.completedAt !== null && (
          <Fact name="Ended">
            <Ago at={job.completedAt} />
          </Fact>
        )}
        {job.startedAt !== null && job.completedAt !== null && (
          <Fact name="Took">{between(job.startedAt, job.completedAt)}</Fact>
        )}
        {job.mailing !== null && (
          <Fact name="Part of">
            <a href={linkTo(["mailings", job.mailing])}>{job.mailing}</a>
          </Fact>
        )}
        {job.requeueOf !== null && (
          <Fact name="Takes up">
            <a href={linkTo(["jobs", job.requeueOf])}>{job.requeueOf}</a>
          </Fact>
        )}
        {Object.entries(job.metadata).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
      {job.error !== null && (
        <p class="error">
          <code>{job.error.code}</code> {job.error.message}
        </p>
      )}
    </section>
  );
}

function waitingFor(job: JobAnswer) {
  if (job.status === "retrying") return <Ago at={job.nextAttemptAt} />;
  if (job.status === "paused") return <small>{job.progress.pending + job.progress.deferred} not yet sent</small>;
  return null;
}
