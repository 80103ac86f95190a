import type { DeadLetterCauses } from "../api/answers.ts";
import type { BulkQuestion } from "../parts/bulk-dialog.tsx";
import { Section } from "../parts/section.tsx";
import { Ago } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { figure } from "../reading/words.ts";
import { linkTo } from "../router.ts";
import { can } from "../session.ts";
import { type Loaded, useGet } from "../use-load.ts";

const refreshMs = 5000;

type Cause = DeadLetterCauses["data"][number];

export const useCauses = (): Loaded<DeadLetterCauses> =>
  useGet<DeadLetterCauses>("api/dead-letters/causes?status=open", refreshMs);

const path = "api/dead-letters/bulk";
const words = { noun: "dead letter", verb: "Ignore", done: "ignored", needsReason: true } as const;

const questionOf = (action: "requeue" | "ignore", which: object): BulkQuestion => {
  const bulk = { path, body: { action, ...which } };
  if (action === "ignore") return { ...words, bulk, note: <p>The history stays.</p> };
  return {
    ...words,
    verb: "Requeue",
    done: "requeued as new jobs",
    needsReason: false,
    bulk,
    note: <p>Each becomes a new job, which mails only the recipients that were not sent.</p>,
    undo: { verb: "Cancel", done: "cancelled", noun: "new job", path: "api/jobs/bulk", action: "cancel" },
  };
};

type CausesProps = {
  readonly causes: Loaded<DeadLetterCauses>;
  /** Null while an answer is being carried out. */
  readonly onAsk: ((question: BulkQuestion) => void) | null;
};

/** Open dead letters by what the mail servers said: one decision is for all that failed for one reason. */
export function Causes({ causes, onAsk }: CausesProps) {
  const { value, problem } = causes;
  const found = value?.data ?? [];
  if (found.length === 0 && problem === null) return null;
  return (
    <Section name="Causes" title="Why jobs failed" problem={problem}>
      <Table
        caption="Open dead letters by cause, the most frequent first"
        head={["Cause", "Jobs", "Newest", "Decision"]}
      >
        {found.map((cause) => (
          <tr key={`${cause.code} ${cause.cause}`}>
            <td class="wide">
              <a href={linkTo(["dead-letters"], { code: cause.code, cause: cause.cause })}>{cause.cause}</a>{" "}
              <small>{cause.code}</small>
            </td>
            <td>{figure(cause.letters)}</td>
            <td>
              <Ago at={cause.newestFailedAt} />
            </td>
            <td>{can("jobs:write") && <Decide cause={cause} onAsk={onAsk} />}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

type DecideProps = { readonly cause: Cause; readonly onAsk: CausesProps["onAsk"] };

const Decide = ({ cause: { code, cause, letters }, onAsk }: DecideProps) => (
  <span class="buttons">
    {(["requeue", "ignore"] as const).map((action) => (
      <button
        key={action}
        type="button"
        disabled={onAsk === null}
        onClick={() => onAsk?.(questionOf(action, { filter: { code, cause } }))}
      >
        {action === "requeue" ? "Requeue" : "Ignore"} {letters === 1 ? "it" : `all ${figure(letters)}`}
      </button>
    ))}
  </span>
);
