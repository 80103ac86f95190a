import type { SchedulePage } from "../api/answers.ts";
import { withQuery } from "../api/client.ts";
import type { Page } from "../page.ts";
import { CursorPager } from "../parts/cursor-pager.tsx";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { goTo, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useGet } from "../use-load.ts";
import { nameOf, Schedule } from "./schedule.tsx";
import { NewSchedule } from "./schedule-form.tsx";

export const schedulesPage: Page = {
  path: "schedules",
  shortcut: "h",
  title: "Schedules",
  needs: ["jobs:read"],
  view: ({ parts: [scheduleId] }) => {
    if (scheduleId !== undefined) return <Schedule key={scheduleId} scheduleId={scheduleId} />;
    return place.value.query.has("new") && can("jobs:write") ? <NewSchedule /> : <Schedules />;
  },
};

const refreshMs = 5000;
const head = ["Name", "Status", "Cron", "Next time", "Last firing"];

/** Jobs and mailings that the service makes at times. */
function Schedules() {
  const cursor = place.value.query.get("cursor");
  const list = useGet<SchedulePage>(withQuery("api/schedules", { cursor, limit: 50 }), refreshMs);
  const schedules = list.value?.data ?? [];
  return (
    <>
      <div class="title">
        <h1>Schedules</h1>
        {can("jobs:write") && (
          <button type="button" class="primary" onClick={() => goTo(["schedules"], { new: "true" })}>
            New schedule
          </button>
        )}
      </div>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && schedules.length === 0 && (
        <Empty title={cursor === null ? "There is no schedule yet." : "There are no older ones."}>
          <p>A schedule makes a job or a mailing again and again, at the times that it names.</p>
        </Empty>
      )}
      {schedules.length > 0 && (
        <Table caption="Schedules, the newest first" head={head}>
          {schedules.map(({ id, name, status, cron, timeZone, nextTimes, lastFiring }) => (
            <tr key={id}>
              <td class="wide">
                <a href={linkTo(["schedules", id])}>{nameOf({ name })}</a>
              </td>
              <td>
                <Status of={status} />
              </td>
              <td>
                <code>{cron}</code> <small>{timeZone}</small>
              </td>
              <td>
                <Ago at={nextTimes[0] ?? null} />
              </td>
              <td>
                <Ago at={lastFiring?.firedAt ?? null} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <CursorPager first="Newest" next="Older" nextCursor={list.value?.nextCursor ?? null} />
    </>
  );
}
