import type { Instant } from "../domain/message.ts";
import { type SuppressionReason, suppressionReasons } from "../domain/recipients/events.ts";
import { isEmailAddress } from "../schemas/email-address.ts";
import { type Checked, type Fault, failed, passed, shown } from "../schemas/fault.ts";
import { toInstant } from "../schemas/instant.ts";

export type Entry = { readonly email: string; readonly reason: SuppressionReason; readonly createdAt: Instant };

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, "");

/** Column names of other services, so that their exports can be imported unchanged: letters only, in lower case. */
const columns: ReadonlyMap<string, "email" | "reason" | "createdAt"> = new Map([
  ["email", "email"],
  ["emailaddress", "email"],
  ["address", "email"],
  ["reason", "reason"],
  ["suppressionreason", "reason"],
  ["createdat", "createdAt"],
]);

/** The name that Waybill uses for a column. An unknown column keeps its name behind `other`, and is ignored. */
export const columnOf = (name: string): string => columns.get(lettersOf(name)) ?? `other ${name}`;

const reasons: ReadonlyMap<string, SuppressionReason> = new Map([
  ...suppressionReasons.map((reason) => [lettersOf(reason), reason] as const),
  ["bounce", "hard-bounce"],
  ["spamcomplaint", "complaint"],
  ["manualsuppression", "manual"],
]);

type Assumed = { readonly reason: SuppressionReason; readonly now: Instant };

/** Reads one line of a list. Missing and empty columns take the assumed values. */
export function readEntry(
  line: number,
  { email, reason, createdAt }: Readonly<Record<string, unknown>>,
  { reason: usual, now }: Assumed,
): Checked<Entry> {
  const faults: Fault[] = [];
  const wrong = (column: string, value: unknown, expected: string): void => {
    const found = isAbsent(value) ? "missing" : shown(value);
    faults.push({
      pointer: `/${line}/${column}`,
      message: `line ${line}: ${column} is ${found}; expected ${expected}`,
    });
  };
  const address = typeof email === "string" ? email.trim() : null;
  if (address === null || !isEmailAddress(address)) wrong("email", email, "an e-mail address such as ada@example.com");
  const why = isAbsent(reason) ? usual : typeof reason === "string" ? reasons.get(lettersOf(reason)) : undefined;
  if (why === undefined) wrong("reason", reason, `one of ${suppressionReasons.join(", ")}`);
  const at = isAbsent(createdAt) ? now : typeof createdAt === "string" ? toInstant(createdAt) : null;
  const isPast = at !== null && at <= now;
  if (!isPast) wrong("createdAt", createdAt, "a time that has passed, such as 2026-11-21T09:30:00.000Z");
  if (address === null || why === undefined || !isPast || faults.length > 0) return failed(faults);
  return passed({ email: address, reason: why, createdAt: at });
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === "";
