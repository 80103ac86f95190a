import { type JobType, type Priority, priorities } from "../domain/job/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { startOf, tokenOf } from "../nats/names.ts";
import type { QueuedTurn, TurnPlace } from "./turns.ts";

/** Each kind of job has lanes of its own: a delay of one delays no other, and no worker gets a kind unknown to it. */
export type Lane = { readonly type: JobType; readonly priority: Priority; readonly place: TurnPlace };

/** A turn as its subject names it. */
export type NamedTurn = JobRef & Lane & Pick<QueuedTurn, "after">;

const places: readonly TurnPlace[] = ["lane", "overflow"];

/** The lanes of a kind of job, in the order in which workers serve them. */
export const lanesOf = (type: JobType): readonly Lane[] =>
  priorities.flatMap((priority) => places.map((place) => ({ type, priority, place })));

/** `email-send.normal.lane`; with hyphens also the name of the lane's consumer. */
const tokensOf = ({ type, priority, place }: Lane): string => `${type.replace(".", "-")}.${priority}.${place}`;

export const consumerOf = (lane: Lane): string => tokensOf(lane).replaceAll(".", "-");

export const laneFilter = (prefix: string, lane: Lane): string => `${startOf(prefix)}turns.${tokensOf(lane)}.>`;

/** A subject for each turn: the server keeps one message of it, and refuses another. */
export const subjectOfTurn = (prefix: string, { tenant, jobId, after, ...lane }: NamedTurn): string =>
  `${startOf(prefix)}turns.${tokensOf(lane)}.${tokenOf(tenant, "tenant")}.${tokenOf(jobId, "job id")}.${after}`;

/** Throws if the subject is not that of a turn. */
export function parseTurnSubject(prefix: string, subject: string): NamedTurn {
  const tokens = subject.slice(startOf(prefix).length).split(".");
  const [first, kind = "", priority, place, tenant = "", jobId = "", after] = tokens;
  const isKnown = priorities.includes(priority as Priority) && places.includes(place as TurnPlace);
  if (first !== "turns" || !isKnown || tokens.length !== 7) {
    const form = "turns.<kind>.<priority>.<lane or overflow>.<tenant>.<jobId>.<sequence>";
    throw new Error(`${JSON.stringify(subject)} is not the subject of a turn; expected ${form}`);
  }
  const lane = { type: kind.replace("-", "."), priority, place } as Lane;
  return { ...lane, tenant, jobId, after: Number(after) };
}
