import type { MailingAnswer } from "../api/answers.ts";
import { counted, figure, percent } from "../reading/words.ts";

type Status = MailingAnswer["status"];

/** The title by which people know a mailing; where it has neither a name nor a subject, its content was erased. */
export const nameOf = ({ name, subject }: Pick<MailingAnswer, "name" | "subject">): string =>
  name ?? subject ?? "A mailing, content erased";

export const hasMailingEnded = (status: Status): boolean =>
  ["completed", "completed-with-failures", "failed", "cancelled"].includes(status);

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
      : [
          [
            "Stops when",
            `more than ${percent(stopWhen.failureRate)} fail, of at least ${figure(stopWhen.after)}`,
          ] as const,
        ]),
  ];
}
