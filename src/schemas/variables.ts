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
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > maxBytes ? `takes ${bytes} bytes of JSON; expected at most ${maxBytes}` : null;
}

/** The value was parsed from a body that is itself too shallow to overflow the stack. */
const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)));
