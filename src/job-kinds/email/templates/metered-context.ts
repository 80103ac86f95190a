import { Context, type Liquid } from "liquidjs";
import { type Meter, measure } from "./meter.ts";

/** Listing a key, and comparing an element, take this many times as long as reading a character. */
const keyCost = 24;
const elementCost = 16;

/**
 * Holds the variables of a template for Liquid, and checks the limit. Liquid's own limit of rendering is one of time, and
 * time passes while others have the processor; this one counts steps.
 */
export class MeteredContext extends Context {
  readonly meter: Meter;
  /** Parts of the HTML that were kept: see kept-markup.ts. */
  readonly markup = new Set<string>();
  readonly #engine: Liquid;

  constructor(variables: object, engine: Liquid, meter: Meter) {
    super(variables, engine.options, { sync: true }, { liquid: engine });
    this.meter = meter;
    this.#engine = engine;
    this.memoryLimit.use = (count) => {
      if (+count > 0) meter.hold(+count);
    };
    this.renderLimit.check = () => {};
  }

  override spawn(scope: object = {}): Context {
    return new MeteredContext(scope, this.#engine, this.meter);
  }

  override *_getFromScope(...parameters: Parameters<Context["_getFromScope"]>): IterableIterator<unknown> {
    this.meter.step(parameters[1].length);
    const value: unknown = yield* super._getFromScope(...parameters);
    if (typeof value === "string" || (typeof value === "object" && value !== null)) this.#countUse(value);
    return value;
  }

  /** Liquid lists the keys of an object to find its size. */
  override readProperty(...[of, key]: Parameters<Context["readProperty"]>): unknown {
    const value: unknown = super.readProperty(of, key);
    if (key === "size" && typeof of === "object" && !Array.isArray(of)) this.meter.look(Number(value) * keyCost);
    return value;
  }

  /** Counts what Liquid does without asking the meter: it compares a value, lists its keys, or turns it into a number. */
  #countUse(value: string | object): void {
    if (typeof value === "string") this.meter.look(value.length / 16);
    else if (!Array.isArray(value)) this.meter.look(Object.keys(value).length * keyCost);
    else {
      const nested = measure(value, this.meter) - value.length;
      this.meter.look(value.length / 16 + nested * elementCost);
    }
  }
}
