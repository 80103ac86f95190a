import type { CaughtMail } from "../api/answers.ts";
import type { Page } from "../page.ts";
import { LoadedMail } from "../parts/loaded-mail.tsx";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { Ago } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { counted } from "../reading/words.ts";
import { changeQuery, linkTo, place } from "../router.ts";
import { hasMailbox } from "../session.ts";
import { useGet } from "../use-load.ts";

export const mailboxPage: Page = {
  path: "mailbox",
  shortcut: "b",
  title: "Mailbox",
  needs: ["admin"],
  isOffered: hasMailbox,
  view: ({ parts: [id] }) => (id === undefined ? <Mailbox /> : <Mail key={id} id={id} />),
};

const refreshMs = 3000;
const shownMails = 50;

/** The mails that the built-in mail server caught, newest first. */
function Mailbox() {
  const list = useGet<readonly CaughtMail[]>("mailbox", refreshMs);
  const page = Math.max(1, Number(place.value.query.get("page") ?? "1") || 1);
  const mails = list.value ?? [];
  const shown = mails.slice((page - 1) * shownMails, page * shownMails);
  const goTo = (to: number): void => changeQuery({ page: to === 1 ? null : String(to) });
  return (
    <>
      <h1>Mailbox</h1>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && mails.length === 0 && (
        <Empty title="No mail yet.">
          <p>
            Every mail is caught here and none leaves this machine. <a href={linkTo(["compose"])}>Send one</a>.
          </p>
        </Empty>
      )}
      {shown.length > 0 && (
        <Table caption="Caught mails" head={["Subject", "To", "Received"]}>
          {shown.map((mail) => (
            <tr key={mail.id}>
              <td class="wide">
                <a href={linkTo(["mailbox", mail.id])}>{mail.subject || "(no subject)"}</a>
              </td>
              <td class="wide">{mail.to.join(", ")}</td>
              <td>
                <Ago at={mail.receivedAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <div class="pager">
        <span>{counted(mails.length, "mail")}</span>
        <button type="button" disabled={page === 1} onClick={() => goTo(page - 1)}>
          Newer
        </button>
        <button type="button" disabled={page * shownMails >= mails.length} onClick={() => goTo(page + 1)}>
          Older
        </button>
      </div>
    </>
  );
}

const Mail = ({ id }: { readonly id: string }) => (
  <>
    <p class="path">
      <a href={linkTo(["mailbox"])}>Mailbox</a> / {id}
    </p>
    <LoadedMail path={`mailbox/${encodeURIComponent(id)}`} />
  </>
);
