import { Type } from "typebox";
import { checkRequest } from "../schemas/request-schema.ts";
import { suppressionReasons } from "../schemas/suppression-request.ts";
import type { Suppression } from "./suppression-store.ts";

/** As it is stored, in which version of its entry. */
export type SuppressionRecord = Suppression & {
  /** Which it came from; not kept once the address was dropped. */
  readonly jobId?: string;
  /** The sequence of the entry with the address, which this one without it took the place of. */
  readonly replaces?: number;
};

const text = Type.String({ description: "a string" });

// Fields that a newer release added are no fault.
const check = checkRequest(
  Type.Object({
    email: Type.Union([text, Type.Null()]),
    reason: text,
    createdAt: text,
    jobId: Type.Optional(text),
    replaces: Type.Optional(Type.Integer()),
  }),
);

export const encodeSuppression = (record: SuppressionRecord): string => JSON.stringify(record);

/** Whatever cannot be read is there all the same: nobody is mailed because an entry is broken or newer than this release. */
export function decodeSuppression(bytes: string): SuppressionRecord {
  const checked = check(parsed(bytes));
  if (!checked.valid) return { email: null, reason: "manual", createdAt: new Date(0).toISOString() };
  const { reason, ...others } = checked.value;
  return { ...others, reason: suppressionReasons.find((known) => known === reason) ?? "manual" };
}

export const toSuppression = ({ email, reason, createdAt }: SuppressionRecord): Suppression => ({
  email,
  reason,
  createdAt,
});

function parsed(bytes: string): unknown {
  try {
    return JSON.parse(bytes);
  } catch {
    return null;
  }
}
