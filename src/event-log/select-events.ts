import type { JobEvent } from "../domain/job/events.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import { isReturn, type ReturnEvent } from "../domain/recipients/feedback.ts";
import { events } from "../schemas/events.ts";
import { eventsOfNotices } from "../schemas/events-of-notices.ts";
import { eventsOfRecipients } from "../schemas/events-of-recipients.ts";
import type { LogEvent, Notice, Place, StoredEvent } from "./event-log.ts";

export const isDecision = (event: LogEvent): event is StoredEvent<JobEvent> =>
  "event" in event && events[event.event.type].channel === "job";

export const isAboutRecipients = (event: LogEvent): event is StoredEvent<RecipientEvent> =>
  "event" in event && Object.hasOwn(eventsOfRecipients, event.event.type) && event.event.type !== "ResultStored";

export const isAboutFeedback = (event: LogEvent): event is StoredEvent<ReturnEvent> =>
  "event" in event && isReturn(event.event);

export const isNotice = (event: LogEvent): event is StoredEvent<Notice> =>
  "event" in event && Object.hasOwn(eventsOfNotices, event.event.type);

/** For sorting events that were read from several subjects. */
export const inOrder = (one: Place, other: Place): number => one.sequence - other.sequence || one.index - other.index;
