import { useMemo } from "preact/hooks";
import type { EventAnswer, JobAnswer } from "../api/answers.ts";
import { get } from "../api/client.ts";
import { Bar, BarLegend } from "../parts/bar.tsx";
import { EventList } from "../parts/event-list.tsx";
import { ProblemBox } from "../parts/messages.tsx";
import { Ago, Fact, Status } from "../parts/status.tsx";
import { download } from "../reading/download.ts";
import { jobAt } from "../reading/job-at.ts";
import { figure } from "../reading/words.ts";
import { changeQuery, place } from "../router.ts";
import { useLoad } from "../use-load.ts";

/** Draws only events around the slider: those far from it would only cost time. */
const shownBefore = 20;
const shownEvents = 60;

/** The history of a job, and the job as it was after any event of it. */
export function JobHistory({ job }: { readonly job: JobAnswer }) {
  // While the job runs, its history is not reloaded with every mail: the button reloads it.
  const question = `${job.id} ${job.status} ${job.completedAt}`;
  const found = useLoad(question, (signal) =>
    get<readonly EventAnswer[]>(`api/jobs/${encodeURIComponent(job.id)}/events`, signal),
  );
  const history = found.value ?? [];
  const wanted = Number(place.value.query.get("at") ?? Number.NaN);
  const at = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, history.length) : history.length;
  const then = useMemo(() => jobAt(history, at), [found.value, at]);
  if (found.value === null) return found.problem === null ? <p>Loading…</p> : <ProblemBox problem={found.problem} />;
  const move = (to: number): void =>
    changeQuery({ at: String(Math.min(Math.max(to, 1), history.length)) }, "same-step");
  const event = history[at - 1];
  const from = Math.max(0, Math.min(at - shownBefore, history.length - shownEvents));
  return (
    <>
      <div class="slider">
        <button type="button" disabled={at <= 1} onClick={() => move(at - 1)} aria-label="One event back">
          ◀
        </button>
        <input
          type="range"
          min={1}
          max={history.length}
          value={at}
          aria-label="The job as it was after event"
          aria-valuetext={`Event ${at} of ${history.length}: ${event?.type ?? ""}`}
          onInput={(input) => move(Number(input.currentTarget.value))}
        />
        <button type="button" disabled={at >= history.length} onClick={() => move(at + 1)} aria-label="One event on">
          ▶
        </button>
        <span>
          Event {figure(at)} of {figure(history.length)}
        </span>
        <button type="button" onClick={found.reload}>
          Read again
        </button>
        <button
          type="button"
          onClick={() => download(`${job.id}.json`, "application/json", [JSON.stringify(history, null, 2)])}
        >
          Download
        </button>
      </div>
      {then !== null && event !== undefined && (
        <section class="box" aria-label="State of the job at this event">
          <Bar counts={then.progress} />
          <BarLegend counts={then.progress} />
          <dl class="facts">
            <Fact name="Status">
              <Status of={then.status} />
            </Fact>
            <Fact name="Run, attempt">
              {then.run}, {then.attempt}
            </Fact>
            <Fact name="At">
              <Ago at={event.time} />
            </Fact>
            {then.error !== null && <Fact name="Error">{then.error.code}</Fact>}
          </dl>
        </section>
      )}
      <EventList events={history.slice(from, from + shownEvents)} current={event ?? null} />
    </>
  );
}
