import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { MailingAnswer, Scope } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { AskDialog, type GivenReason } from "../parts/ask-dialog.tsx";
import { Choice } from "../parts/field.tsx";
import { tell } from "../parts/messages.tsx";
import { counted } from "../reading/words.ts";
import { can, me } from "../session.ts";
import { type RetryChoice, retryScopes } from "./job-actions.tsx";

/** Undo is not among them: it is urgent and harmless, and has a button that asks nothing. */
export type MailingAction = "start" | "pause" | "resume" | "cancel" | "retry" | "approve" | "reject";

const titles: Readonly<Record<MailingAction, string>> = {
  start: "Start",
  pause: "Pause",
  resume: "Resume",
  cancel: "Cancel",
  retry: "Retry failed",
  approve: "Approve",
  reject: "Reject",
};

const byStatus: Readonly<Record<MailingAnswer["status"], readonly MailingAction[]>> = {
  draft: ["start", "cancel"],
  "awaiting-approval": ["approve", "reject", "cancel"],
  scheduled: ["pause", "cancel"],
  processing: ["pause", "cancel"],
  paused: ["resume", "cancel"],
  completed: [],
  "completed-with-failures": ["retry"],
  failed: ["retry"],
  cancelled: [],
};

const scopeOf = (action: MailingAction): Scope =>
  action === "approve" || action === "reject" ? "jobs:approve" : "jobs:write";

/** The actions that the status and the key allow; the service checks again, because the status may have changed. */
export const actionsFor = ({ status, approval, progress }: MailingAnswer): readonly MailingAction[] =>
  byStatus[status].filter((action) => {
    if (action === "start" && progress.total === 0) return false;
    // Whoever asked for a start neither approves nor rejects it.
    const isOwn = scopeOf(action) === "jobs:approve" && approval?.requestedBy === me.value?.actor;
    return can(scopeOf(action)) && !isOwn;
  });

export const act = (action: MailingAction | "undo", mailingId: string, body: object): Promise<MailingAnswer> => {
  const path = `api/mailings/${encodeURIComponent(mailingId)}`;
  return send("POST", `${path}/${action}`, { body, isSameTwice: action !== "retry", changes: path });
};

type ActionsProps = {
  readonly mailing: MailingAnswer;
  readonly actions: readonly MailingAction[];
  readonly onChanged: (mailing: MailingAnswer) => void;
};

/** A button for each action, and the dialog of the one that was pressed. */
export function MailingActions({ mailing, actions, onChanged }: ActionsProps): JSX.Element {
  const [asked, setAsked] = useState<MailingAction | null>(null);
  return (
    <div class="buttons">
      {actions.map((action) => (
        <button key={action} type="button" class={styleOf(action)} onClick={() => setAsked(action)}>
          {titles[action]}
        </button>
      ))}
      {asked !== null && (
        <ActionDialog mailing={mailing} action={asked} onChanged={onChanged} onClose={() => setAsked(null)} />
      )}
    </div>
  );
}

const styleOf = (action: MailingAction): string =>
  action === "cancel" || action === "reject" ? "danger" : action === "start" || action === "approve" ? "primary" : "";

type DialogProps = Omit<ActionsProps, "actions"> & {
  readonly action: MailingAction;
  readonly onClose: () => void;
};

function ActionDialog({ mailing, action, onChanged, onClose }: DialogProps) {
  const [scope, setScope] = useState<RetryChoice>("failed");
  const [at, setAt] = useState("");
  // What the dialog showed is what is approved, even where the page shows another digest since.
  const [digest] = useState(mailing.approval?.digest ?? "");
  const does = action === "retry" ? "Retry the failed parts" : `${titles[action]} this mailing`;
  const recipients = counted(mailing.progress.total, "recipient");
  const confirm = async (given: GivenReason): Promise<void> => {
    const bodies: Partial<Record<MailingAction, object>> = {
      start: at === "" ? {} : { scheduledAt: new Date(at).toISOString() },
      approve: { digest },
      retry: { ...given, scope },
    };
    const changed = await act(action, mailing.id, bodies[action] ?? given);
    tell(`The mailing is ${changed.status}.`);
    onChanged(changed);
  };
  return (
    <AskDialog
      title={`${does}${action === "start" || action === "approve" ? ` to ${recipients}` : ""}?`}
      action={does}
      keep={action === "cancel" ? "Keep it" : "Close"}
      isDangerous={action === "cancel" || action === "reject"}
      needsReason={action === "reject"}
      hasNoReason={action === "start" || action === "approve"}
      onConfirm={confirm}
      onClose={onClose}
    >
      {action === "start" && (
        <>
          <p>A mailing that has started takes no more recipients.</p>
          <label class="field">
            Not before; empty for now
            <input type="datetime-local" value={at} onInput={(event) => setAt(event.currentTarget.value)} />
          </label>
        </>
      )}
      {action === "approve" && (
        <p>
          You approve the letter, the settings, the time and the recipients with the digest <code>{digest}</code>.
        </p>
      )}
      {action === "reject" && <p>The mailing becomes a draft again, and shows the reason.</p>}
      {action === "cancel" && <p>A cancel is final. Recipients of parts that are no jobs yet are erased.</p>}
      {action === "retry" && (
        <Choice
          label="Mail again"
          value={scope}
          options={retryScopes}
          onChange={(value) => setScope(value as RetryChoice)}
        />
      )}
    </AskDialog>
  );
}
