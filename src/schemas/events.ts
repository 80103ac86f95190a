import type { Static } from "typebox";
import type { AlertEvent } from "../domain/alerts/events.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { LogArchived, LogSealed, MessagePassed } from "../domain/log/events.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import type { NotificationEvent } from "../domain/notifications/notification.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import type { ReturnEvent } from "../domain/recipients/feedback.ts";
import type { ResultEvent } from "../domain/result/events.ts";
import type { ScheduleEvent } from "../domain/schedule/events.ts";
import type { ThrottleEvent } from "../domain/throttles/events.ts";
import type { WebhookEvent } from "../domain/webhooks/events.ts";
import type { EventDescription } from "./event-fields.ts";
import { eventsOfFeedback } from "./events-of-feedback.ts";
import { eventsOfJobs } from "./events-of-jobs.ts";
import { eventsOfMailings } from "./events-of-mailings.ts";
import { eventsOfNotices } from "./events-of-notices.ts";
import { eventsOfRecipients } from "./events-of-recipients.ts";
import { eventsOfSchedules } from "./events-of-schedules.ts";
import { eventsOfService } from "./events-of-service.ts";

/** The same type, deeply read-only. */
export type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

type LoggedEvent =
  | JobEvent
  | MailingEvent
  | ScheduleEvent
  | RecipientEvent
  | ReturnEvent
  | ResultEvent
  | WebhookEvent
  | NotificationEvent
  | AlertEvent
  | LogArchived
  | LogSealed
  | MessagePassed
  | ThrottleEvent;

export type EventType = LoggedEvent["type"];

/**
 * The table of events: for every type its channel in the log, the data of its newest version, whether subscribers may
 * rely on it, and an example. Everything else about all types is derived from it: subjects, validation of written and
 * read events, the answers of the API, the AsyncAPI document.
 */
export const events = {
  ...eventsOfJobs,
  ...eventsOfMailings,
  ...eventsOfSchedules,
  ...eventsOfRecipients,
  ...eventsOfFeedback,
  ...eventsOfNotices,
  ...eventsOfService,
} satisfies Record<EventType, EventDescription>;

export const eventTypes = Object.keys(events) as readonly EventType[];

type DataOf<Type extends EventType> = Frozen<Extract<LoggedEvent, { type: Type }>["data"]>;
type SchemaOf<Type extends EventType> = Frozen<Static<(typeof events)[Type]["schema"]>>;

/** The types whose schema and domain type differ, in either direction, and those that have no domain type. */
type Drifted =
  | Exclude<keyof typeof events, EventType>
  | {
      [Type in EventType]: [DataOf<Type>, SchemaOf<Type>] extends [SchemaOf<Type>, DataOf<Type>] ? never : Type;
    }[EventType];

// Does not compile while a schema and its domain type differ; the error names the types that do.
true satisfies [Drifted] extends [never] ? true : Drifted;
