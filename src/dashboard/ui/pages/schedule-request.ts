import type { ScheduleAnswer } from "../api/answers.ts";
import { ownZone } from "../reading/in-zone.ts";
import { readObject } from "../reading/read-json.ts";

/** A schedule as it is typed. */
export type ScheduleDraft = Pick<ScheduleAnswer, "cron" | "timeZone" | "overlap" | "catchUp" | "makes"> & {
  readonly name: string;
  /** The request for the job or the mailing, as JSON. */
  readonly template: string;
};

export const emptySchedule = (): ScheduleDraft => ({
  name: "",
  cron: "",
  timeZone: ownZone(),
  overlap: "skip",
  catchUp: "none",
  makes: "job",
  template: "",
});

export function draftOf(schedule: ScheduleAnswer): ScheduleDraft {
  const { name, cron, timeZone, overlap, catchUp, makes } = schedule;
  return {
    name: name ?? "",
    cron,
    timeZone,
    overlap,
    catchUp,
    makes,
    template: JSON.stringify(schedule[makes], null, 2),
  };
}

/** `fault` is about the template. */
export type ReadScheduleDraft =
  | { readonly body: object; readonly fault: null }
  | { readonly body: null; readonly fault: string };

export function readDraft({ template, makes, ...fields }: ScheduleDraft): ReadScheduleDraft {
  const read = readObject(template);
  return read.fault === null
    ? { body: { ...fields, [makes]: read.value }, fault: null }
    : { body: null, fault: read.fault };
}
