import type { Recipient } from "../reading/recipients.ts";

/** The draft as it is typed. */
export type Draft = {
  /** The name and version of a template, in place of the subject and the body; empty for none. */
  readonly template: string;
  readonly subject: string;
  readonly body: string;
  readonly recipients: string;
  readonly from: string;
  readonly name: string;
  readonly priority: "high" | "normal" | "low";
  /** Local time, as the browser's input holds it. */
  readonly scheduledAt: string;
};

export const emptyDraft: Draft = {
  template: "",
  subject: "",
  body: "",
  recipients: "",
  from: "",
  name: "",
  priority: "normal",
  scheduledAt: "",
};

/** The request leaves out empty fields, for which the service uses its defaults. */
export function toRequest(
  { template, subject, body, from, name, priority, scheduledAt }: Draft,
  recipients: readonly Recipient[],
) {
  return {
    ...(template === "" ? { subject, body } : { template }),
    recipients,
    priority,
    ...(from.trim() === "" ? {} : { from: from.trim() }),
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...(scheduledAt === "" ? {} : { scheduledAt: new Date(scheduledAt).toISOString() }),
  };
}
