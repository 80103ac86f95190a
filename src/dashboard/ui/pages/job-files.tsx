import { useState } from "preact/hooks";
import type { JobAnswer } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { AskDialog, type GivenReason } from "../parts/ask-dialog.tsx";
import { Choice } from "../parts/field.tsx";
import { tell } from "../parts/messages.tsx";
import { SaveButton } from "../parts/save-button.tsx";
import { isMail } from "../reading/kinds.ts";
import { toLocal } from "../reading/words.ts";
import { can } from "../session.ts";
import { hasEnded } from "./job-actions.tsx";

type MoreProps = { readonly job: JobAnswer; readonly onChanged: (job: JobAnswer) => void };

const pathOf = (job: JobAnswer): string => `api/jobs/${encodeURIComponent(job.id)}`;

/** The files that the job left behind, and the actions before its start and after its end. */
export function JobFiles({ job, onChanged }: MoreProps) {
  const [asked, setAsked] = useState<"reschedule" | "erase" | null>(null);
  const isErased = isMail(job) && job.subject === null;
  const props = { job, onChanged, onClose: () => setAsked(null) };
  return (
    <div class="buttons">
      {job.links.result !== undefined && job.status === "completed" && (
        <SaveButton title="Download the report" path={`${pathOf(job)}/result`} />
      )}
      {can("events:read") && <SaveButton title="Download the evidence" path={`${pathOf(job)}/evidence`} />}
      {can("jobs:write") && job.startedAt === null && !hasEnded(job.status) && (
        <button type="button" onClick={() => setAsked("reschedule")}>
          Reschedule
        </button>
      )}
      {can("jobs:write") && hasEnded(job.status) && !isErased && (
        <button type="button" class="danger" onClick={() => setAsked("erase")}>
          Erase the content
        </button>
      )}
      {asked === "reschedule" && <Reschedule {...props} />}
      {asked === "erase" && <Erase {...props} />}
    </div>
  );
}

type DialogProps = MoreProps & { readonly onClose: () => void };

function Reschedule({ job, onChanged, onClose }: DialogProps) {
  const before = toLocal(job.scheduledAt ?? "");
  const [at, setAt] = useState(before);
  const [priority, setPriority] = useState<string>(job.priority);
  const confirm = async (given: GivenReason): Promise<void> => {
    const body = {
      // An untouched field is left out of the request: sent empty, it would start tomorrow's mailing now.
      ...(at === before ? {} : { scheduledAt: at === "" ? null : new Date(at).toISOString() }),
      ...(priority === job.priority ? {} : { priority }),
      ...given,
    };
    const changed = await send<JobAnswer>("PATCH", pathOf(job), { body });
    tell(`The job is ${changed.status}.`);
    onChanged(changed);
  };
  return (
    <AskDialog
      title="Start this job at another time?"
      action="Reschedule this job"
      onConfirm={confirm}
      onClose={onClose}
    >
      <label class="field">
        Not before; empty for now
        <input type="datetime-local" value={at} onInput={(event) => setAt(event.currentTarget.value)} />
      </label>
      <Choice
        label="Priority"
        value={priority}
        options={["high", "normal", "low"].map((one) => [one, one] as const)}
        onChange={setPriority}
      />
    </AskDialog>
  );
}

function Erase({ job, onChanged, onClose }: DialogProps) {
  const confirm = async (given: GivenReason): Promise<void> => {
    onChanged(await send<JobAnswer>("DELETE", `${pathOf(job)}/content`, { body: given }));
    tell("The content and the recipients are erased.");
  };
  return (
    <AskDialog
      title="Erase the content and the recipients?"
      action="Erase it for good"
      keep="Keep it"
      isDangerous
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>This cannot be undone. The history keeps the reason, so the reason must name no person.</p>
    </AskDialog>
  );
}
