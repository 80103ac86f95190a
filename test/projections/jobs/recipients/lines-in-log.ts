import type { EventLog, JobRef } from "../../../../src/event-log/event-log.ts";
import { placeOf, placeToText } from "../../../../src/event-log/place.ts";

/** The ids of the lines that the log of a mailing of these parts has, in their order. */
export async function linesInLog(log: EventLog, parts: readonly JobRef[]): Promise<readonly string[]> {
  const histories = await Promise.all(parts.map((part) => log.readHistory(part)));
  return histories
    .flat()
    .filter(({ event }) => event.type.startsWith("Recipient"))
    .map(placeOf)
    .sort((one, other) => one - other)
    .map(placeToText);
}
