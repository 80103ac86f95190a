/** What one event takes in the log, as a CloudEvent. */
export type FloorEvent = {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** An entry as Waybill stores it: an array of CloudEvents, each with what caused it. Nothing is checked. */
export const toEntry = (jobId: string, events: readonly (readonly [type: string, data: object])[]): string => {
  const time = new Date().toISOString();
  return JSON.stringify(
    events.map(([type, data]) => ({
      specversion: "1.0",
      id: `${jobId}/${type}`,
      source: "/floor",
      type,
      subject: jobId,
      time,
      datacontenttype: "application/json",
      dataschema: `/schemas/${type}/1`,
      actor: "anonymous",
      correlationid: jobId,
      data,
    })),
  );
};

/** What is sent, and to whom. */
export type Content = { readonly subject: string; readonly body: string; readonly recipients: readonly string[] };

/** What a worker is told of a job whose turn it is; `after` is the sequence of the entry that opened the turn. */
export type Turn = { readonly jobId: string; readonly after: number };
