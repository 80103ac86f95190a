import type { MailingAnswer } from "../api/answers.ts";
import { counted, figure, percent } from "../reading/words.ts";

type Status = MailingAnswer["status"];

/** The title by which people know a mailing; where it has neither a name nor a subject, its content was erased. */
export const nameOf = ({ name, subject }: Pick<MailingAnswer, "name" | "subject">): string =>
  name ?? subject ?? "A mailing, content erased";

export const hasMailingEnded = (status: Status): boolean =>
  ["completed", "completed-with-failures", "failed", "cancelled"].includes(status);

function stopsInWords({ failureRate, bounceRate, complaintRate }: NonNullable<MailingAnswer["stopWhen"]>): string {
  const limits = [
    failureRate === null ? null : `more than ${percent(failureRate)} fail`,
    bounceRate === undefined ? null : `more than ${percent(bounceRate)} come back`,
    complaintRate === undefined ? null : `more than ${percent(complaintRate)} complain`,
  ];
  return limits.filter((limit) => limit !== null).join(", or ");
}

/** Each brake of a mailing, by its name; none for one that goes out as fast as it can. */
export function brakesInWords({
  rate,
  rampUp,
  window,
  stopWhen,
}: MailingAnswer): readonly (readonly [string, string])[] {
  return [
    ...(rate === null ? [] : [["Rate", `${counted(rate, "recipient")} an hour`] as const]),
    ...(rampUp === null
      ? []
      : [["Ramp-up", `${figure(rampUp.firstHour)} in the first hour, then ${rampUp.growth} times as many`] as const]),
    ...(window === null
      ? []
      : [["Window", `${window.days.join(", ")} ${window.from}–${window.to} (${window.timeZone})`] as const]),
    ...(stopWhen === null
      ? []
      : [["Stops when", `${stopsInWords(stopWhen)}, of at least ${figure(stopWhen.after)}`] as const]),
  ];
}
