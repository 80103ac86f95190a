import { useId, useRef, useState } from "preact/hooks";
import type { ScheduleAnswer } from "../api/answers.ts";
import { get, send } from "../api/client.ts";
import { Problem, toProblem } from "../api/problem.ts";
import { CheckedField, faultOf } from "../parts/checked-field.tsx";
import { Choice } from "../parts/field.tsx";
import { ProblemBox, tell } from "../parts/messages.tsx";
import { Section } from "../parts/section.tsx";
import { goTo, linkTo } from "../router.ts";
import { draftOf, emptySchedule, readDraft, type ScheduleDraft } from "./schedule-request.ts";

export function NewSchedule() {
  // A second press after a failure asks for the same schedule again, and makes no other one.
  const key = useRef(newKey());
  const save = async (body: object): Promise<void> => {
    const headers = { "Idempotency-Key": key.current };
    const { id } = await send<ScheduleAnswer>("POST", "api/schedules", { body, headers });
    tell("The schedule is active.");
    goTo(["schedules", id]);
  };
  return (
    <>
      <p class="path">
        <a href={linkTo(["schedules"])}>Schedules</a>
      </p>
      <h1>New schedule</h1>
      <ScheduleForm
        title="What it makes, and when"
        action="Create this schedule"
        begin={emptySchedule}
        onEdit={() => {
          key.current = newKey();
        }}
        onSave={save}
        onClose={() => goTo(["schedules"])}
      />
    </>
  );
}

const newKey = (): string => `dashboard-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;

type ChangeProps = {
  readonly schedule: ScheduleAnswer;
  /** It is another one than the page shows. */
  readonly onSeen: (schedule: ScheduleAnswer) => void;
  readonly onChanged: (schedule: ScheduleAnswer) => void;
  readonly onClose: () => void;
};

/**
 * A change replaces all of the schedule. What it began with is compared first: someone else may have changed it meanwhile, or
 * the service may have erased a person from it, whom this would bring back.
 */
export function ChangeSchedule({ schedule, onSeen, onChanged, onClose }: ChangeProps) {
  const [begun] = useState(() => draftOf(schedule));
  const save = async (body: object): Promise<void> => {
    const path = `api/schedules/${encodeURIComponent(schedule.id)}`;
    const now = await get<ScheduleAnswer>(path);
    if (JSON.stringify(draftOf(now)) !== JSON.stringify(begun)) {
      onSeen(now);
      throw changedMeanwhile();
    }
    const changed = await send<ScheduleAnswer>("PUT", path, { body });
    tell("The schedule is changed.");
    onChanged(changed);
  };
  return (
    <ScheduleForm
      title="Change this schedule"
      action="Save the changes"
      begin={() => begun}
      onEdit={() => {}}
      onSave={save}
      onClose={onClose}
    />
  );
}

const changedMeanwhile = (): Problem =>
  new Problem(409, {
    title: "The schedule is another one by now",
    detail: "It was changed since you began. Close this form without saving, and begin again.",
  });

type FormProps = {
  readonly title: string;
  readonly action: string;
  readonly begin: () => ScheduleDraft;
  readonly onEdit: () => void;
  readonly onSave: (body: object) => Promise<void>;
  readonly onClose: () => void;
};

/** The service checks it, with the job or the mailing that it would make now, and names each fault. */
function ScheduleForm({ title, action, begin, onEdit, onSave, onClose }: FormProps) {
  const zones = useId();
  const [draft, setDraft] = useState(begin);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [templateFault, setTemplateFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const change = (changes: Partial<ScheduleDraft>): void => {
    setDraft({ ...draft, ...changes });
    onEdit();
  };
  const save = async (): Promise<void> => {
    const { body, fault } = readDraft(draft);
    setTemplateFault(fault);
    setProblem(null);
    if (body === null) return;
    setBusy(true);
    try {
      await onSave(body);
    } catch (failure) {
      setProblem(toProblem(failure));
      setBusy(false);
    }
  };
  const field = (of: "name" | "cron" | "timeZone", label: string, list?: string) => (
    <CheckedField
      label={label}
      value={draft[of]}
      {...(list === undefined ? {} : { list })}
      fault={faultOf(problem, `/${of}`)}
      onInput={(value) => change({ [of]: value })}
    />
  );
  return (
    <Section name="Write" title={title}>
      <form onSubmit={(event) => event.preventDefault()}>
        {field("name", "Name")}
        {field("cron", "Cron: minute, hour, day of the month, month, day of the week")}
        {field("timeZone", "Time zone", zones)}
        <datalist id={zones}>
          {Intl.supportedValuesOf("timeZone").map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        <div class="filters">
          <Choice
            label="While the one before has not ended"
            value={draft.overlap}
            options={overlaps}
            onChange={(overlap) => change({ overlap: overlap as ScheduleDraft["overlap"] })}
          />
          <Choice
            label="Times that passed while the service was away"
            value={draft.catchUp}
            options={catchUps}
            onChange={(catchUp) => change({ catchUp: catchUp as ScheduleDraft["catchUp"] })}
          />
          <Choice
            label="Makes"
            value={draft.makes}
            options={made}
            onChange={(makes) => change({ makes: makes as ScheduleDraft["makes"] })}
          />
        </div>
        <CheckedField
          label={`The request for the ${draft.makes}, as JSON`}
          rows={12}
          value={draft.template}
          fault={templateFault ?? faultOf(problem, `/${draft.makes}`)}
          onInput={(template) => change({ template })}
        />
        {draft.makes === "mailing" && (
          <p class="quiet">
            A mailing names another one in <code>recipientsOf</code>, whose recipients each new mailing gets.
          </p>
        )}
        {problem !== null && <ProblemBox problem={problem} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Close without saving
          </button>
          <button type="button" class="primary" disabled={isBusy} onClick={() => void save()}>
            {action}
          </button>
        </div>
      </form>
    </Section>
  );
}

const overlaps: readonly (readonly [ScheduleDraft["overlap"], string])[] = [
  ["skip", "skip the time"],
  ["queue", "wait for its end"],
];
const catchUps: readonly (readonly [ScheduleDraft["catchUp"], string])[] = [
  ["none", "none fires"],
  ["one", "the latest one fires"],
];
const made: readonly (readonly [ScheduleDraft["makes"], string])[] = [
  ["job", "a job"],
  ["mailing", "a mailing"],
];
