import { Context, type Liquid } from "liquidjs";
import { type Meter, measure } from "./meter.ts";

/** How much longer it takes to list a key, and to compare an element, than to look at a character. */
const keyCost = 24;
const elementCost = 16;

/**
 * Where Liquid keeps what a template works with, and asks whether it may go on. Liquid's own limit of rendering is one
 * of time, and time passes while others have the processor; this one counts.
 */
export class MeteredContext extends Context {
  readonly meter: Meter;
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

  /** The size of an object is found by listing its keys. */
  override readProperty(...[of, key]: Parameters<Context["readProperty"]>): unknown {
    const value: unknown = super.readProperty(of, key);
    if (key === "size" && typeof of === "object" && !Array.isArray(of)) this.meter.look(Number(value) * keyCost);
    return value;
  }

  /** Liquid compares a value, lists its keys, turns it into a number, without asking the meter. */
  #countUse(value: string | object): void {
    if (typeof value === "string") this.meter.look(value.length / 16);
    else if (!Array.isArray(value)) this.meter.look(Object.keys(value).length * keyCost);
    else {
      const nested = measure(value, this.meter) - value.length;
      this.meter.look(value.length / 16 + nested * elementCost);
    }
  }
}
