import type { StoredEvent, WaybillEvent } from "./event-log.ts";

/** An event as answers and reports show it: what was appended, and nothing that could change. */
export const toEventAnswer = ({
  sequence,
  index,
  event,
  jobId,
  tenant,
  actor,
  traceparent,
}: StoredEvent<WaybillEvent>) => ({
  sequence,
  index,
  type: event.type,
  time: event.at,
  jobId,
  tenant,
  actor,
  // Absent where the event belongs to no trace.
  ...(traceparent === null ? {} : { traceparent }),
  data: event.data,
});
