import { useState } from "preact/hooks";
import type { CreatedAnswer, DeadLetterAnswer, DeadLetterPage } from "../api/answers.ts";
import { send, withQuery } from "../api/client.ts";
import type { Page } from "../page.ts";
import { AskDialog, type GivenReason } from "../parts/ask-dialog.tsx";
import { Bar } from "../parts/bar.tsx";
import type { BulkQuestion } from "../parts/bulk-dialog.tsx";
import { BulkRun } from "../parts/bulk-run.tsx";
import { CursorPager } from "../parts/cursor-pager.tsx";
import { Choice } from "../parts/field.tsx";
import { Empty, ProblemBox, tell } from "../parts/messages.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { changeQuery, goTo, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useGet } from "../use-load.ts";
import { Causes, useCauses } from "./dead-letters-causes.tsx";

export const deadLettersPage: Page = {
  path: "dead-letters",
  shortcut: "d",
  title: "Dead letters",
  needs: ["jobs:read"],
  view: () => <DeadLetters />,
};

type Decision = { readonly letter: DeadLetterAnswer; readonly action: "requeue" | "ignore" };

const refreshMs = 5000;
const statuses: readonly (readonly [string, string])[] = [
  ["open", "open (undecided)"],
  ["requeued", "requeued as another job"],
  ["retried", "retried by hand"],
  ["ignored", "ignored"],
  ["any", "any"],
];

/** Jobs that failed for good and wait for a decision. */
function DeadLetters() {
  const { query } = place.value;
  const status = query.get("status") ?? "open";
  const cursor = query.get("cursor");
  const [code, cause] = [query.get("code"), query.get("cause")];
  const path = withQuery("api/dead-letters", {
    status: status === "any" ? null : status,
    code,
    cause,
    cursor,
    limit: 50,
  });
  const list = useGet<DeadLetterPage>(path, refreshMs);
  const causes = useCauses();
  const [asked, setAsked] = useState<Decision | null>(null);
  const [askedOfMany, setAskedOfMany] = useState<BulkQuestion | null>(null);
  const [isGoing, setGoing] = useState(false);
  const reload = (): void => {
    list.reload();
    causes.reload();
  };
  const letters = list.value?.data ?? [];

  const decide = async ({ letter, action }: Decision, body: GivenReason): Promise<void> => {
    const address = `api/dead-letters/${encodeURIComponent(letter.id)}/${action}`;
    if (action === "ignore") {
      await send("POST", address, { body, isSameTwice: true });
      tell("The dead letter is ignored.");
      reload();
    } else {
      const { jobId } = await send<CreatedAnswer>("POST", address, { body });
      tell("Requeued as this job.");
      goTo(["jobs", jobId]);
    }
  };

  return (
    <>
      <h1>Dead letters</h1>
      <Causes causes={causes} onAsk={isGoing ? null : setAskedOfMany} />
      <BulkRun asked={askedOfMany} onAnswered={() => setAskedOfMany(null)} onGoing={setGoing} onDone={reload} />
      <h2>Dead letters one by one</h2>
      <search class="filters">
        <Choice
          label="Decision"
          value={status}
          options={statuses}
          onChange={(value) => changeQuery({ status: value === "open" ? null : value, cursor: null })}
        />
        {code !== null && (
          <button type="button" onClick={() => changeQuery({ code: null, cause: null, cursor: null })}>
            Of every cause, not only {cause ?? code}
          </button>
        )}
      </search>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value !== null && letters.length === 0 && (
        <Empty title={status === "open" ? "No dead letter waits for a decision." : "There is none."}>
          <p>A job that fails for good leaves a dead letter here.</p>
        </Empty>
      )}
      {letters.length > 0 && (
        <Table caption="Dead letters, the newest first" head={["Job", "Why", "Recipients", "Failed", "Decision"]}>
          {letters.map((letter) => (
            <Row key={letter.id} letter={letter} onAsk={(action) => setAsked({ letter, action })} />
          ))}
        </Table>
      )}
      <CursorPager first="Newest" next="Older" nextCursor={list.value?.nextCursor ?? null} />
      {asked !== null && (
        <AskDialog
          title={asked.action === "ignore" ? "Ignore this dead letter?" : "Requeue this dead letter as a new job?"}
          action={asked.action === "ignore" ? "Ignore this dead letter" : "Requeue as a new job"}
          needsReason={asked.action === "ignore"}
          onConfirm={(given) => decide(asked, given)}
          onClose={() => setAsked(null)}
        >
          <p>{asked.action === "ignore" ? "The history stays." : "Only recipients that were not sent are mailed."}</p>
        </AskDialog>
      )}
    </>
  );
}

type RowProps = { readonly letter: DeadLetterAnswer; readonly onAsk: (action: Decision["action"]) => void };

const Row = ({ letter, onAsk }: RowProps) => (
  <tr>
    <td class="wide">
      <a href={linkTo(["jobs", letter.jobId])}>{letter.name ?? letter.subject ?? letter.jobId}</a>
      <small> run {letter.run}</small>
    </td>
    <td class="wide">
      <code>{letter.error.code}</code> {letter.error.message}
      {letter.reply !== null && <div class="said">{letter.reply}</div>}
    </td>
    <td class="progress">
      <Bar counts={letter.progress} />
    </td>
    <td>
      <Ago at={letter.failedAt} />
    </td>
    <td>
      {letter.status === "open" && can("jobs:write") ? (
        <span class="buttons">
          <button type="button" onClick={() => onAsk("requeue")}>
            Requeue
          </button>
          <button type="button" onClick={() => onAsk("ignore")}>
            Ignore
          </button>
        </span>
      ) : (
        <Decided letter={letter} />
      )}
    </td>
  </tr>
);

const Decided = ({ letter }: { readonly letter: DeadLetterAnswer }) => (
  <>
    <Status of={letter.status} />{" "}
    {letter.requeuedAs !== null && <a href={linkTo(["jobs", letter.requeuedAs])}>the new job</a>}
    {letter.reason !== null && <div>{letter.reason}</div>}
    {letter.decidedBy !== null && <small>{letter.decidedBy}</small>}
  </>
);
