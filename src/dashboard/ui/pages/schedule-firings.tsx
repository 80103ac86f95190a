import type { FiringAnswer, FiringPage } from "../api/answers.ts";
import { withQuery } from "../api/client.ts";
import { CursorPager } from "../parts/cursor-pager.tsx";
import { Section } from "../parts/section.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { counted } from "../reading/words.ts";
import { linkTo, place } from "../router.ts";
import { useGet } from "../use-load.ts";

const refreshMs = 5000;

/** What became of each time, the newest first. */
export function ScheduleFirings({ scheduleId }: { readonly scheduleId: string }) {
  const path = `api/schedules/${encodeURIComponent(scheduleId)}/firings`;
  const cursor = place.value.query.get("cursor");
  const { value, problem } = useGet<FiringPage>(withQuery(path, { cursor, limit: 20 }), refreshMs);
  const firings = value?.data ?? [];
  return (
    <Section name="History" problem={problem}>
      {value !== null && firings.length === 0 && <p>Nothing has come due yet.</p>}
      {firings.length > 0 && (
        <Table caption="Firings, the newest first" head={["Due", "Outcome", "Decided", "Made"]}>
          {firings.map((firing) => (
            <tr key={`${firing.dueAt} ${firing.at} ${firing.outcome}`}>
              <td>
                <Ago at={firing.dueAt} />
                {firing.count > 1 && (
                  <small>
                    and {counted(firing.count - 1, "time")} before, since <Ago at={firing.firstDueAt} />
                  </small>
                )}
              </td>
              <td>
                <Status of={firing.outcome} />
                {firing.reason !== null && <small> {firing.reason}</small>}
              </td>
              <td>
                <Ago at={firing.at} />
              </td>
              <td class="wide">
                <Made {...firing} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <CursorPager first="Newest" next="Older" nextCursor={value?.nextCursor ?? null} />
    </Section>
  );
}

function Made({ jobId, mailingId }: Pick<FiringAnswer, "jobId" | "mailingId">) {
  if (jobId !== null) return <a href={linkTo(["jobs", jobId])}>{jobId}</a>;
  return mailingId === null ? <>–</> : <a href={linkTo(["mailings", mailingId])}>{mailingId}</a>;
}
