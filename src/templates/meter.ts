/** What one filling in has done so far, in steps; it ends where there have been too many. */
export class Meter {
  /** A step is about what a variable costs: a microsecond. */
  used = 0;
  /** Characters and elements that have been made. */
  held = 0;

  step(count: number): void {
    this.used += count;
    if (!(this.used <= maxSteps)) throw new OverLimit("it does too much");
  }

  /** Characters or elements that are looked at. */
  look(count: number): void {
    this.step(count / looksPerStep);
  }

  /** Characters or elements that are made, and stay. */
  hold(count: number): void {
    this.held += count;
    if (!(this.held <= maxHeld)) throw new OverLimit("it makes too long a text");
    this.look(count);
  }
}

/** The same template with the same variables meets it at the same place, however busy the machine is. */
export class OverLimit extends Error {
  override readonly name = "OverLimit";
}

const maxSteps = 100_000;
const maxHeld = 5_000_000;
const looksPerStep = 64;

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
