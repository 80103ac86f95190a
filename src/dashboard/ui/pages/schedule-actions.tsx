import { useState } from "preact/hooks";
import type { ScheduleAnswer } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { AskDialog, type GivenReason } from "../parts/ask-dialog.tsx";
import { tell } from "../parts/messages.tsx";
import { changeQuery } from "../router.ts";

type Action = "pause" | "resume" | "delete";

const titles: Readonly<Record<Action, string>> = { pause: "Pause", resume: "Resume", delete: "Delete" };

const explained: Readonly<Record<Action, string>> = {
  pause: "Times that come while it is paused are passed over. What it has made goes on.",
  resume: "It fires at the next time; those that it has passed over are not made up for.",
  delete: "A delete is final, and erases what it would make. What it has made goes on, and its history stays.",
};

type ActionsProps = { readonly schedule: ScheduleAnswer; readonly onChanged: (schedule: ScheduleAnswer) => void };

export function ScheduleActions({ schedule: { id, status }, onChanged }: ActionsProps) {
  const [asked, setAsked] = useState<Action | null>(null);
  const path = `api/schedules/${encodeURIComponent(id)}`;
  const confirm = async (action: Action, given: GivenReason): Promise<void> => {
    const asked = { body: given, isSameTwice: true, changes: path };
    const changed = await (action === "delete"
      ? send<ScheduleAnswer>("DELETE", path, asked)
      : send<ScheduleAnswer>("POST", `${path}/${action}`, asked));
    tell(`The schedule is ${changed.status}.`);
    onChanged(changed);
  };
  const actions: readonly Action[] = [status === "paused" ? "resume" : "pause", "delete"];
  return (
    <div class="buttons">
      <button type="button" onClick={() => changeQuery({ change: "true" })}>
        Change
      </button>
      {actions.map((action) => (
        <button key={action} type="button" class={action === "delete" ? "danger" : ""} onClick={() => setAsked(action)}>
          {titles[action]}
        </button>
      ))}
      {asked !== null && (
        <AskDialog
          title={`${titles[asked]} this schedule?`}
          action={`${titles[asked]} this schedule`}
          keep={asked === "delete" ? "Keep it" : "Close"}
          isDangerous={asked === "delete"}
          onConfirm={(given) => confirm(asked, given)}
          onClose={() => setAsked(null)}
        >
          <p>{explained[asked]}</p>
        </AskDialog>
      )}
    </div>
  );
}
