import { Type } from "typebox";

const maxDepth = 8;
const maxBytes = 32_768;

export const variables = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  additionalProperties: true,
  description: "an object with the values that fill in the template",
});

/** Null if the variables are within the limits of size and depth; otherwise a description of what is expected. */
export function faultOfVariables(value: object): string | null {
  if (isDeeperThan(value, maxDepth)) return `is nested too deep; expected at most ${maxDepth} levels`;
  if (holdsRounded(value)) return faultOfRounded;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > maxBytes ? `takes ${bytes} bytes of JSON; expected at most ${maxBytes}` : null;
}

/** The value was parsed from a body that is itself too shallow to overflow the stack. */
const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)));

export const faultOfRounded = "holds a number that was rounded; expected at most 15 digits, or a string";

/** A message would show another number than the client sent, or none: JSON writes what is too large for a number as null. */
export const holdsRounded = (value: unknown): boolean =>
  typeof value === "number"
    ? !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))
    : typeof value === "object" && value !== null && Object.values(value).some(holdsRounded);
