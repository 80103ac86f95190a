import type { StoredEvent } from "../event-log/event-log.ts";

/** An event as it stands in an answer: what was appended, and nothing that could change. */
export const toEventAnswer = ({ sequence, event, jobId, tenant, actor }: StoredEvent) => ({
  sequence,
  type: event.type,
  time: event.at,
  jobId,
  tenant,
  actor,
  data: event.data,
});
