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
