import type { Instant } from "../src/domain/message.ts";

/** DATETIME(3) holds an instant to the millisecond; the connection reads and writes it in UTC. */
export const toDate = (instant: Instant): Date => new Date(instant);
export const toDateOrNull = (instant: Instant | null): Date | null => (instant === null ? null : new Date(instant));

export const toInstant = (date: Date): Instant => date.toISOString();
export const toInstantOrNull = (date: Date | null): Instant | null => date?.toISOString() ?? null;
