import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DryRunAnswer } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import type { Page } from "../page.ts";
import { MailView } from "../parts/mail-view.tsx";
import { ProblemBox, tell } from "../parts/messages.tsx";
import { type Recipient, readRecipients } from "../reading/recipients.ts";
import { counted } from "../reading/words.ts";
import { changeQuery, goTo, place } from "../router.ts";
import { callersGone } from "../session.ts";
import { DraftFields } from "./compose-fields.tsx";
import { type Draft, emptyDraft, toRequest } from "./compose-request.ts";
import { createDrafting, createSending, type Drafting, type Sending } from "./compose-send.ts";

export const composePage: Page = {
  path: "compose",
  shortcut: "c",
  title: "Compose",
  needs: ["jobs:write"],
  view: () => <Compose />,
};

type Kept = { readonly draft: Draft; sending: Sending | null; drafting: Drafting | null };

const withoutSending = (draft: Draft): Kept => ({ draft, sending: null, drafting: null });

/**
 * The draft survives a visit to another page, and a key that expires; it ends with the tab, or where another caller comes. So
 * does a sending of it that has failed half-way: a new one would mail people twice.
 */
let kept: Kept = withoutSending(emptyDraft);

callersGone.subscribe(() => {
  kept = withoutSending(emptyDraft);
});

/** Writes a mailing, previews it as a recipient would see it, and sends it. */
function Compose() {
  const [draft, setDraft] = useState<Draft>(kept.draft);
  const [preview, setPreview] = useState<DryRunAnswer | null>(null);
  const [shown, setShown] = useState(0);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const recipients = useMemo(() => readRecipients(draft.recipients), [draft.recipients]);
  const raw = useMemo(() => new TextEncoder().encode(preview?.mail.raw ?? ""), [preview]);

  const change = (changes: Partial<Draft>): void => {
    // A changed mailing is another request, so a sending that was begun does not continue.
    kept = withoutSending({ ...draft, ...changes });
    setDraft(kept.draft);
  };
  const leave = (done: Kept, path: readonly string[]): void => {
    // The user may have begun another draft meanwhile.
    if (kept !== done) return;
    kept = withoutSending({ ...draft, recipients: "" });
    goTo(path);
  };
  // A link names the template once: from then on it is of the draft, where it can be put aside.
  const named = place.value.query.get("template");
  useEffect(() => {
    if (named === null) return;
    change({ template: named });
    changeQuery({ template: null }, "same-step");
  }, [named]);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (failure) {
      setProblem(toProblem(failure));
    } finally {
      setBusy(false);
    }
  };
  const look = (index: number): Promise<void> =>
    attempt(async () => {
      setPreview(null);
      const body = { ...toRequest(draft, beginningWith(recipients, index)), dryRun: true };
      setPreview(await send<DryRunAnswer>("POST", "api/jobs", { body }));
      setShown(index);
    });
  const submit = (): void => {
    if (form.current?.reportValidity() !== true) return;
    void attempt(async () => {
      const begun = kept;
      begun.sending ??= createSending(draft, recipients);
      const created = await begun.sending.goOn();
      tell(`${counted(recipients.length, "recipient")} in ${counted(created.length, "job")}: accepted.`);
      leave(begun, created.length === 1 && created[0] !== undefined ? ["jobs", created[0].jobId] : ["jobs"]);
    });
  };
  // The service names every fault: a mailing may be without recipients yet, which the form does not know.
  const draftMailing = (): Promise<void> =>
    attempt(async () => {
      const begun = kept;
      begun.drafting ??= createDrafting(draft, recipients);
      const { mailingId, added, faulty } = await begun.drafting.goOn();
      tell(
        `The draft has ${counted(added, "recipient")}${faulty === 0 ? "" : `; ${counted(faulty, "line")} ${faulty === 1 ? "was" : "were"} faulty`}.`,
      );
      leave(begun, ["mailings", mailingId]);
    });

  return (
    <>
      <h1>Compose</h1>
      {/* Enter in a field sends nothing: a mailing cannot be called back. */}
      <form ref={form} class="compose" onSubmit={(event) => event.preventDefault()}>
        <DraftFields draft={draft} recipients={recipients} onChange={change} />
        {problem !== null && <ProblemBox problem={problem} />}
        <p class="quiet">
          A mailing is a draft first: on its page you add files of any size, and start it, now or at a time.
        </p>
        <div class="buttons">
          <button type="button" disabled={isBusy} onClick={() => void draftMailing()}>
            Create a mailing
          </button>
          <button type="button" disabled={isBusy} onClick={() => void look(0)}>
            Check and preview
          </button>
          <button type="button" class="primary" disabled={isBusy} onClick={submit}>
            Send to {counted(recipients.length, "recipient")}
          </button>
        </div>
      </form>
      {preview !== null && (
        <section aria-label="Preview" class="box">
          <div class="pager">
            <span>
              As {preview.mail.to} gets it ({shown + 1} of {recipients.length}). Nothing was sent.
            </span>
            <button type="button" disabled={isBusy || shown === 0} onClick={() => void look(shown - 1)}>
              Previous
            </button>
            <button
              type="button"
              disabled={isBusy || shown + 1 >= recipients.length}
              onClick={() => void look(shown + 1)}
            >
              Next
            </button>
          </div>
          {preview.warnings.map(({ code, message }) => (
            <p key={code} class="box problem">
              {message}
            </p>
          ))}
          <MailView bytes={raw} />
        </section>
      )}
    </>
  );
}

/** The dry run shows the first recipient, and checks the template for all recipients given. */
const beginningWith = (recipients: readonly Recipient[], index: number): readonly Recipient[] =>
  index === 0 ? recipients.slice(0, 1000) : recipients.slice(index, index + 1);
