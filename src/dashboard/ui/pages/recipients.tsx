import { useState } from "preact/hooks";
import type { LedgerPage } from "../api/answers.ts";
import { get, send, withQuery } from "../api/client.ts";
import type { Page } from "../page.ts";
import { AskDialog, type GivenReason } from "../parts/ask-dialog.tsx";
import { Attempts } from "../parts/attempts.tsx";
import { CursorPager } from "../parts/cursor-pager.tsx";
import { Seek } from "../parts/field.tsx";
import { Empty, ProblemBox, tell } from "../parts/messages.tsx";
import { SaveButton } from "../parts/save-button.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { titleOf } from "../reading/kinds.ts";
import { counted } from "../reading/words.ts";
import { changeQuery, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useLoad } from "../use-load.ts";

export const recipientsPage: Page = {
  path: "recipients",
  shortcut: "r",
  title: "Recipients",
  needs: ["jobs:read"],
  view: () => {
    const email = place.value.query.get("email") ?? "";
    return (
      <>
        <h1>Recipients</h1>
        <Seek
          label="Address, or the URL of a webhook"
          value={email}
          onSeek={(typed) => changeQuery({ email: typed, cursor: null })}
        />
        {email === "" ? (
          <p>Everything that was ever sent, or failed to be sent, to one address.</p>
        ) : (
          <Ledger email={email} />
        )}
      </>
    );
  },
};

/** All mailings to one address, and the actions on that address. */
function Ledger({ email }: { readonly email: string }) {
  const path = withQuery("api/recipients", { email, cursor: place.value.query.get("cursor"), limit: 50 });
  const list = useLoad(path, (signal) => get<LedgerPage>(path, signal));
  const [isAsked, setAsked] = useState(false);
  const entries = list.value?.data ?? [];
  if (list.problem !== null) return <ProblemBox problem={list.problem} />;
  if (list.value === null) return <p>Loading…</p>;
  return (
    <>
      {can("admin") && (
        <div class="buttons">
          <SaveButton title="Export all of it" path={withQuery("api/recipients/export", { email })} />
          <button type="button" class="danger" onClick={() => setAsked(true)}>
            Erase
          </button>
        </div>
      )}
      {entries.length === 0 && (
        <Empty
          title={
            list.value.nextCursor === null
              ? "No mailing to this address is recorded."
              : "None of the newest jobs is for this address. Older ones may be."
          }
        />
      )}
      {entries.length > 0 && (
        <Table caption="Mailings to this address, the newest first" head={["Job", "State", "Created", "Attempts"]}>
          {entries.map((entry) => (
            <tr key={`${entry.jobId} ${entry.recipient}`}>
              <td class="wide">
                <a href={linkTo(["jobs", entry.jobId], { q: email })}>{titleOf(entry)}</a>
              </td>
              <td>
                <Status of={entry.status} />
              </td>
              <td>
                <Ago at={entry.createdAt} />
              </td>
              <td class="wide">
                <Attempts of={entry.history} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <CursorPager first="Newest" next="Older" nextCursor={list.value.nextCursor} />
      {isAsked && (
        <AskDialog
          title={`Erase ${email} everywhere?`}
          action="Erase this address for good"
          keep="Keep it"
          isDangerous
          needsReason
          onConfirm={async (given) => {
            await erase(email, given);
            list.reload();
          }}
          onClose={() => setAsked(false)}
        >
          <p>This cannot be undone. The history keeps that something was sent, but not to whom.</p>
          <p>The history keeps the reason, so the reason must name no person.</p>
        </AskDialog>
      )}
    </>
  );
}

/** Jobs that have not ended keep the address: then the message gives their number, and the user asks again later. */
async function erase(email: string, given: GivenReason): Promise<void> {
  const { jobsErased } = await send<{ readonly jobsErased: number }>("POST", "api/recipients/erase", {
    body: { email, ...given },
  });
  tell(`Erased from ${counted(jobsErased, "job")}.`);
}
