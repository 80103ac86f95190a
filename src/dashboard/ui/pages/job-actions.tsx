import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { JobAnswer } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { AskDialog, type GivenReason } from "../parts/ask-dialog.tsx";
import { Choice } from "../parts/field.tsx";
import { tell } from "../parts/messages.tsx";
import { can } from "../session.ts";

type Action = "pause" | "resume" | "cancel" | "retry";
type Status = JobAnswer["status"];

const titles: Readonly<Record<Action, string>> = {
  pause: "Pause",
  resume: "Resume",
  cancel: "Cancel",
  retry: "Retry",
};

export const hasEnded = (status: Status): boolean => ["completed", "failed", "cancelled"].includes(status);

/** The actions that the job's state allows; the service checks again, because that may have changed. */
export function actionsFor({ status, progress }: Pick<JobAnswer, "status" | "progress">): readonly Action[] {
  const { failed, pending, unknown } = progress;
  if (status === "failed" || (status === "completed" && failed + pending + unknown > 0)) return ["retry"];
  if (hasEnded(status)) return [];
  return status === "paused" ? ["resume", "cancel"] : ["pause", "cancel"];
}

export const act = (action: Action, jobId: string, body: object): Promise<JobAnswer> => {
  const path = `api/jobs/${encodeURIComponent(jobId)}`;
  if (action === "cancel") return send("DELETE", path, { body, changes: path });
  return send("POST", `${path}/${action}`, { body, isSameTwice: action !== "retry", changes: path });
};

export type RetryChoice = "failed" | "unsent" | "unknown";
export const retryScopes: readonly (readonly [RetryChoice, string])[] = [
  ["failed", "all recipients not sent"],
  ["unsent", "only recipients without a final outcome"],
  ["unknown", "only recipients with an unknown outcome"],
];

type ActionsProps = { readonly job: JobAnswer; readonly onChanged: (job: JobAnswer) => void };

export function JobActions({ job, onChanged }: ActionsProps): JSX.Element | null {
  const [asked, setAsked] = useState<Action | null>(null);
  const [scope, setScope] = useState<RetryChoice>("failed");
  if (!can("jobs:write")) return null;
  const confirm = async (action: Action, given: GivenReason): Promise<void> => {
    const changed = await act(action, job.id, { ...given, ...(action === "retry" ? { scope } : {}) });
    tell(`The job is ${changed.status}.`);
    onChanged(changed);
  };
  return (
    <div class="buttons">
      {actionsFor(job).map((action) => (
        <button key={action} type="button" class={action === "cancel" ? "danger" : ""} onClick={() => setAsked(action)}>
          {titles[action]}
        </button>
      ))}
      {asked !== null && (
        <AskDialog
          title={`${titles[asked]} this job?`}
          action={`${titles[asked]} this job`}
          keep={asked === "cancel" ? "Keep it" : "Close"}
          isDangerous={asked === "cancel"}
          onConfirm={(given) => confirm(asked, given)}
          onClose={() => setAsked(null)}
        >
          {asked === "cancel" && <p>The service still records mails that are on their way; nobody else is mailed.</p>}
          {asked === "retry" && (
            <Choice
              label="Mail again"
              value={scope}
              options={retryScopes}
              onChange={(value) => setScope(value as RetryChoice)}
            />
          )}
        </AskDialog>
      )}
    </div>
  );
}
