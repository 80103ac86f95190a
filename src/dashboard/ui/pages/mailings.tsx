import type { MailingAnswer, MailingPage } from "../api/answers.ts";
import { withQuery } from "../api/client.ts";
import type { Page } from "../page.ts";
import { Bar } from "../parts/bar.tsx";
import { ListPager } from "../parts/list-pager.tsx";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { figure } from "../reading/words.ts";
import { linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useGet } from "../use-load.ts";
import { Mailing } from "./mailing.tsx";
import { nameOf } from "./mailing-words.ts";

export const mailingsPage: Page = {
  path: "mailings",
  shortcut: "m",
  title: "Mailings",
  needs: ["jobs:read"],
  view: ({ parts: [mailingId] }) =>
    mailingId === undefined ? <Mailings /> : <Mailing key={mailingId} mailingId={mailingId} />,
};

const refreshMs = 5000;
const firstCommand = `curl -s ${location.origin}/api/mailings -H 'Content-Type: application/json' -d '{
  "name": "Autumn", "subject": "Hello {{ name }}", "body": "Dear {{ name }}"
}'`;

function Mailings() {
  const cursor = place.value.query.get("cursor");
  const list = useGet<MailingPage>(withQuery("api/mailings", { cursor, pageSize: 50 }), refreshMs);
  const mailings = list.value?.data ?? [];
  return (
    <>
      <h1>Mailings</h1>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && mailings.length === 0 && (
        <Empty title="There is no mailing yet." command={firstCommand}>
          <p>
            A mailing has one letter and as many recipients as you like.{" "}
            {can("jobs:write") && (
              <>
                <a href={linkTo(["compose"])}>Compose one</a>, or create its draft and add recipients here.
              </>
            )}
          </p>
        </Empty>
      )}
      {mailings.length > 0 && <MailingTable mailings={mailings} />}
      <ListPager total={list.value?.pagination.total ?? 0} nextCursor={list.value?.pagination.nextCursor ?? null} />
    </>
  );
}

const head = ["Name", "Status", "Progress", "Recipients", "Created"];

const MailingTable = ({ mailings }: { readonly mailings: readonly MailingAnswer[] }) => (
  <Table caption="Mailings, the newest first" head={head}>
    {mailings.map((mailing) => (
      <tr key={mailing.id}>
        <td class="wide">
          <a href={linkTo(["mailings", mailing.id])}>{nameOf(mailing)}</a>
          {mailing.subject !== null && mailing.name !== null && <small> {mailing.subject}</small>}
        </td>
        <td>
          <Status of={mailing.status} />
          {mailing.stoppedBy !== null && <small> stopped by itself</small>}
        </td>
        <td class="progress">
          <Bar counts={mailing.progress} />
          <small>{figure(mailing.progress.sent)} sent</small>
        </td>
        <td>{figure(mailing.progress.total)}</td>
        <td>
          <Ago at={mailing.createdAt} />
        </td>
      </tr>
    ))}
  </Table>
);
