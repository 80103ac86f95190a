import type { Instant } from "../domain/message.ts";
import type { Cause } from "../event-log/event-log.ts";
import type { Attribute } from "./attribute.ts";
import type { MailRef, NewFeedback, Recorded } from "./record-feedback.ts";

/** Takes reports about mails that were sent. Every method throws Unavailable; the report is then to be sent again. */
export type FeedbackIntake = {
  readonly attribute: Attribute;
  readonly record: (mail: MailRef, feedback: NewFeedback, cause: Cause, at: Instant) => Promise<Recorded>;
};
