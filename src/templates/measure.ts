import type { Meter } from "./meter.ts";

/**
 * How much there is to a value when it is written out: characters of texts, elements of lists and what they hold. The
 * looking is counted while it goes on, as a list can hold a large one a thousand times.
 */
export function measure(value: unknown, meter: Meter, intoObjects = false): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (!Array.isArray(value) && !intoObjects) return 1;
  const elements: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  meter.look(elements.length);
  let total = elements.length;
  for (const element of elements) total += measure(element, meter, intoObjects);
  return total;
}
