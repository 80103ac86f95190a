import { useState } from "preact/hooks";
import { suppressionReasons } from "../../../domain/recipients/events.ts";
import type { SuppressionPage } from "../api/answers.ts";
import { fetchAnswer, send, withQuery } from "../api/client.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import type { Page } from "../page.ts";
import { AskDialog } from "../parts/ask-dialog.tsx";
import { CursorPager } from "../parts/cursor-pager.tsx";
import { Choice, Seek } from "../parts/field.tsx";
import { Empty, ProblemBox, tell } from "../parts/messages.tsx";
import { Ago } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { changeQuery, place } from "../router.ts";
import { can } from "../session.ts";
import { useGet } from "../use-load.ts";

export const suppressionsPage: Page = {
  path: "suppressions",
  shortcut: "u",
  title: "Suppressions",
  needs: ["jobs:read"],
  view: () => <Suppressions />,
};

/** Addresses that are never mailed. */
function Suppressions() {
  const { query } = place.value;
  const email = query.get("email") ?? "";
  const path = withQuery("api/suppressions", { email, cursor: query.get("cursor"), limit: 50 });
  const list = useGet<SuppressionPage>(path);
  const [asked, setAsked] = useState<string | null>(null);
  const rows = list.value?.data ?? [];

  const remove = async (address: string): Promise<void> => {
    await fetchAnswer("DELETE", `api/suppressions/${encodeURIComponent(address)}`);
    tell("The address may be mailed again.");
    list.reload();
  };

  return (
    <>
      <h1>Suppressions</h1>
      <Seek label="Find an address" value={email} onSeek={(typed) => changeQuery({ email: typed, cursor: null })} />
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && rows.length === 0 && list.value.nextCursor === null && (
        <Empty title={email === "" ? "The list is empty." : `${email} may be mailed.`}>
          <p>The service adds addresses that unsubscribe, and addresses that a mail server rejects as unknown.</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <Table caption="Addresses that are never mailed" head={["Address", "Why", "Since", ""]}>
          {rows.map((row, index) => {
            // The list shows no address for an erased entry: a user who searches for it knows the address.
            const address = row.email ?? (list.isStale ? "" : email);
            return (
              <tr key={row.email ?? index}>
                <td class="wide">{row.email ?? "erased"}</td>
                <td>{row.reason}</td>
                <td>
                  <Ago at={row.createdAt} />
                </td>
                <td>
                  {can("jobs:write") && address !== "" && (
                    <button type="button" aria-label={`Remove ${address}`} onClick={() => setAsked(address)}>
                      Remove
                    </button>
                  )}
                </td>
              </tr>
            );
          })}
        </Table>
      )}
      <CursorPager first="Oldest" next="Newer" nextCursor={list.value?.nextCursor ?? null} />
      {can("jobs:write") && <Add onAdded={list.reload} />}
      {asked !== null && (
        <AskDialog
          title={`Mail ${asked} again?`}
          action="Remove it from the list"
          keep="Keep it"
          isDangerous
          hasNoReason
          onConfirm={() => remove(asked)}
          onClose={() => setAsked(null)}
        >
          <p>Mail a person who has unsubscribed only if that person asks for it.</p>
        </AskDialog>
      )}
    </>
  );
}

function Add({ onAdded }: { readonly onAdded: () => void }) {
  const [email, setEmail] = useState("");
  const [reason, setReason] = useState<string>("manual");
  const [problem, setProblem] = useState<Problem | null>(null);
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem(null);
    try {
      await send("POST", "api/suppressions", { body: { email: email.trim(), reason }, isSameTwice: true });
      tell("The address is suppressed.");
      setEmail("");
      onAdded();
    } catch (failure) {
      setProblem(toProblem(failure));
    }
  };
  return (
    <>
      <form class="filters" onSubmit={(event) => void add(event)}>
        <label class="field">
          Address to suppress
          <input type="email" required value={email} onInput={(event) => setEmail(event.currentTarget.value)} />
        </label>
        <Choice
          label="Why"
          value={reason}
          options={suppressionReasons.toReversed().map((one) => [one, one] as const)}
          onChange={setReason}
        />
        <button type="submit" class="primary">
          Add
        </button>
      </form>
      {problem !== null && <ProblemBox problem={problem} />}
    </>
  );
}
