/** Counts the steps of filling in one template, and throws when there are too many. */
export class Meter {
  /** A step costs about as much as a variable: a microsecond. */
  used = 0;
  /** Characters and elements that have been made. */
  held = 0;

  step(count: number): void {
    this.used += count;
    if (!(this.used <= maxSteps)) throw new OverLimit("it does too much");
  }

  /** Counts characters or elements that are read. */
  look(count: number): void {
    this.step(count / looksPerStep);
  }

  /** Counts characters or elements that are made and kept. */
  hold(count: number): void {
    this.held += count;
    if (!(this.held <= maxHeld)) throw new OverLimit("it makes too long a text");
    this.look(count);
  }
}

/** Thrown at the limit. The same template with the same variables reaches it at the same point, however busy the machine is. */
export class OverLimit extends Error {
  override readonly name = "OverLimit";
}

const maxSteps = 100_000;
const maxHeld = 5_000_000;
const looksPerStep = 64;

/**
 * The size of a value when it is written out: characters of texts, and elements of lists with what they hold. The
 * measuring itself is counted on the way, as a list can hold a large one a thousand times.
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
