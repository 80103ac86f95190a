import { useState } from "preact/hooks";
import type { NotificationAnswer, NotificationPage } from "../api/answers.ts";
import { get, send, withQuery } from "../api/client.ts";
import { toProblem } from "../api/problem.ts";
import type { Page } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { CursorPager } from "../parts/cursor-pager.tsx";
import { Choice } from "../parts/field.tsx";
import { Empty, ProblemBox, tell } from "../parts/messages.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { askUnread, Unread } from "../parts/unread.tsx";
import { changeQuery, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useLoad } from "../use-load.ts";

export const notificationsPage: Page = {
  path: "notifications",
  title: "Notifications",
  mark: () => <Unread />,
  needs: ["jobs:read"],
  view: () => <Notifications />,
};

const refreshMs = 5000;

/** Ended jobs, of those that this key created. */
function Notifications() {
  const { query } = place.value;
  const unread = query.has("all") ? null : "true";
  const path = withQuery("api/notifications", { unread, cursor: query.get("cursor"), limit: 50 });
  const list = useLoad(path, (signal) => get<NotificationPage>(path, signal), refreshMs);
  const [isBusy, setBusy] = useState(false);
  const shown = list.value?.data ?? [];
  const news = shown.filter(({ readAt }) => readAt === null);

  const markRead = async (ids: readonly string[]): Promise<void> => {
    setBusy(true);
    try {
      for (const id of ids) await send("POST", `api/notifications/${encodeURIComponent(id)}/read`);
    } catch (failure) {
      tell(`Not marked: ${toProblem(failure).message}`);
    }
    setBusy(false);
    list.reload();
    askUnread();
  };

  return (
    <>
      <h1>Notifications</h1>
      <search class="filters">
        <Choice
          label="Show"
          value={unread === null ? "all" : ""}
          options={[
            ["", "unread"],
            ["all", "all"],
          ]}
          onChange={(all) => changeQuery({ all, cursor: null })}
        />
        {can("jobs:write") && (
          <button
            type="button"
            disabled={isBusy || news.length === 0}
            onClick={() => void markRead(news.map(({ id }) => id))}
          >
            Mark all shown as read
          </button>
        )}
      </search>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && shown.length === 0 && (
        <Empty title="Nothing new.">
          <p>This page lists the ended jobs that this key created.</p>
        </Empty>
      )}
      {shown.length > 0 && (
        <Table caption="Notifications" head={["Job", "Ended", "Progress", "Read"]}>
          {shown.map((one) => (
            <Row key={one.id} one={one} isBusy={isBusy} onRead={() => void markRead([one.id])} />
          ))}
        </Table>
      )}
      <CursorPager first="Newest" next="Older" nextCursor={list.value?.nextCursor ?? null} />
    </>
  );
}

type RowProps = { readonly one: NotificationAnswer; readonly isBusy: boolean; readonly onRead: () => void };

const Row = ({ one: { jobId, type, progress, error, createdAt, readAt }, isBusy, onRead }: RowProps) => (
  <tr>
    <td class="wide">
      <a href={linkTo(["jobs", jobId])}>{jobId}</a>
      {error !== null && <div>{error.message}</div>}
    </td>
    <td>
      <Status of={type.replace("job.", "")} /> <Ago at={createdAt} />
    </td>
    <td class="progress">{progress !== null && <Bar counts={progress} />}</td>
    <td>
      {readAt === null && can("jobs:write") ? (
        <button type="button" disabled={isBusy} onClick={onRead}>
          Mark as read
        </button>
      ) : (
        <Ago at={readAt} />
      )}
    </td>
  </tr>
);
