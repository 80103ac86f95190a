import { useState } from "preact/hooks";
import type { NotificationAnswer, NotificationPage, NotificationsRead } from "../api/answers.ts";
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
import { figure } from "../reading/words.ts";
import { changeQuery, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useLoad } from "../use-load.ts";

export const notificationsPage: Page = {
  path: "notifications",
  shortcut: "n",
  title: "Notifications",
  mark: () => <Unread />,
  needs: ["jobs:read"],
  view: () => <Notifications />,
};

const refreshMs = 5000;

/** Ended jobs and mailings, of those that this key created or started. */
function Notifications() {
  const { query } = place.value;
  const unread = query.has("all") ? null : "true";
  const path = withQuery("api/notifications", { unread, cursor: query.get("cursor"), limit: 50 });
  const list = useLoad(path, (signal) => get<NotificationPage>(path, signal), refreshMs);
  const [isBusy, setBusy] = useState(false);
  const shown = list.value?.data ?? [];
  const news = shown.filter(({ readAt }) => readAt === null);

  const markRead = async (mark: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    try {
      await mark();
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
          <button type="button" disabled={isBusy || news.length === 0} onClick={() => void markRead(markAll)}>
            Mark all as read
          </button>
        )}
      </search>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && shown.length === 0 && (
        <Empty title="Nothing new.">
          <p>This page lists what ended of the jobs that this key created, and of the mailings that it started.</p>
        </Empty>
      )}
      {shown.length > 0 && (
        <Table caption="Notifications" head={["What", "Ended", "Progress", "Read"]}>
          {shown.map((one) => (
            <Row key={one.id} one={one} isBusy={isBusy} onRead={() => void markRead(() => mark(one.id))} />
          ))}
        </Table>
      )}
      <CursorPager first="Newest" next="Older" nextCursor={list.value?.nextCursor ?? null} />
    </>
  );
}

const mark = (id: string): Promise<unknown> =>
  send("POST", `api/notifications/${encodeURIComponent(id)}/read`, { isSameTwice: true });

/** Also those on other pages. */
async function markAll(): Promise<void> {
  let answer: NotificationsRead;
  do answer = await send<NotificationsRead>("POST", "api/notifications/read", { isSameTwice: true });
  while (answer.hasMore);
}

type RowProps = { readonly one: NotificationAnswer; readonly isBusy: boolean; readonly onRead: () => void };

const Row = ({ one, isBusy, onRead }: RowProps) => {
  const { jobId, mailingId, name, subject, type, progress, error, createdAt, readAt } = one;
  const place = mailingId === null ? ["jobs", jobId ?? ""] : ["mailings", mailingId];
  return (
    <tr>
      <td class="wide">
        <a href={linkTo(place)}>{name ?? subject ?? mailingId ?? jobId}</a>
        <small> {mailingId === null ? "job" : "mailing"}</small>
        {error !== null && <div>{error.message}</div>}
      </td>
      <td>
        <Status of={type.replace(/^\w+\./, "")} /> <Ago at={createdAt} />
      </td>
      <td class="progress">
        {progress !== null && (
          <>
            <Bar counts={progress} />
            <small>
              {figure(progress.sent)} of {figure(progress.total)}
            </small>
          </>
        )}
      </td>
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
};
