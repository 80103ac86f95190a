import { useEffect, useState } from "preact/hooks";
import type { ScheduleAnswer } from "../api/answers.ts";
import { ProblemBox } from "../parts/messages.tsx";
import { Section } from "../parts/section.tsx";
import { Ago, Fact, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { inZone } from "../reading/in-zone.ts";
import { changeQuery, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useGet } from "../use-load.ts";
import { ScheduleActions } from "./schedule-actions.tsx";
import { ScheduleFirings } from "./schedule-firings.tsx";
import { ChangeSchedule } from "./schedule-form.tsx";

const refreshMs = 5000;

/** A deleted one has no name any more, nor what it made its jobs of. */
export const nameOf = ({ name }: Pick<ScheduleAnswer, "name">): string => name ?? "A schedule, deleted";

export function Schedule({ scheduleId }: { readonly scheduleId: string }) {
  const loaded = useGet<ScheduleAnswer>(`api/schedules/${encodeURIComponent(scheduleId)}`, refreshMs);
  const [decided, setDecided] = useState<ScheduleAnswer | null>(null);
  const schedule = decided ?? loaded.value;
  // The next answer includes the decision.
  useEffect(() => setDecided(null), [loaded.value]);
  if (schedule === null) return loaded.problem === null ? <p>Loading…</p> : <ProblemBox problem={loaded.problem} />;
  const onChanged = (changed: ScheduleAnswer): void => {
    setDecided(changed);
    changeQuery({ change: null });
    loaded.reload();
  };
  const isChangeable = can("jobs:write") && schedule.status !== "deleted";
  return (
    <>
      <p class="path">
        <a href={linkTo(["schedules"])}>Schedules</a> / <code>{schedule.id}</code>
      </p>
      <div class="title">
        <h1>{nameOf(schedule)}</h1>
        {isChangeable && <ScheduleActions schedule={schedule} onChanged={onChanged} />}
      </div>
      {loaded.problem !== null && <ProblemBox problem={loaded.problem} />}
      {isChangeable && place.value.query.has("change") && (
        <ChangeSchedule
          schedule={schedule}
          onSeen={setDecided}
          onChanged={onChanged}
          onClose={() => changeQuery({ change: null })}
        />
      )}
      <section class="box" aria-label="Schedule">
        <ScheduleFacts schedule={schedule} />
      </section>
      <NextTimes schedule={schedule} />
      <ScheduleFirings scheduleId={schedule.id} />
      {schedule[schedule.makes] !== undefined && (
        <Section name={`The ${schedule.makes} that it makes`}>
          <pre>{JSON.stringify(schedule[schedule.makes], null, 2)}</pre>
        </Section>
      )}
    </>
  );
}

type ScheduleProps = { readonly schedule: ScheduleAnswer };

const ScheduleFacts = ({
  schedule: { status, makes, cron, timeZone, overlap, catchUp, ...schedule },
}: ScheduleProps) => (
  <dl class="facts">
    <Fact name="Status">
      <Status of={status} />
    </Fact>
    <Fact name="Makes">a {makes}</Fact>
    <Fact name="Cron">
      <code>{cron}</code>
    </Fact>
    <Fact name="Time zone">{timeZone}</Fact>
    <Fact name="While the one before has not ended">{overlap === "skip" ? "skips the time" : "waits for its end"}</Fact>
    <Fact name="After the service was away">{catchUp === "one" ? "fires once" : "goes on"}</Fact>
    <Fact name="Created">
      <Ago at={schedule.createdAt} />
    </Fact>
    <Fact name="Changed">
      <Ago at={schedule.updatedAt} />
    </Fact>
  </dl>
);

const NextTimes = ({ schedule: { status, timeZone, nextTimes } }: ScheduleProps) => (
  <Section name="Next times">
    {nextTimes.length === 0 && (
      <p>{status === "active" ? "No time is to come." : `None: the schedule is ${status}.`}</p>
    )}
    {nextTimes.length > 0 && (
      <Table caption="Next times" head={[`In ${timeZone}`, "Here"]}>
        {nextTimes.map((time) => (
          <tr key={time}>
            <td>{inZone(time, timeZone) ?? "–"}</td>
            <td>
              <Ago at={time} />
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Section>
);
