import { type Context, defaultOperators, type Operators } from "liquidjs";
import { measure } from "./measure.ts";
import type { Meter } from "./meter.ts";
import { MeteredContext } from "./metered-context.ts";

function withWork(name: string, operator: Operators[string] & object): Operators[string] & object {
  switch (name) {
    case "and":
    case "or":
    case "not":
      return operator;
    case "contains":
      return metered(operator, countSearch);
    default:
      return metered(operator, countComparison);
  }
}

type Work = (meter: Meter, left: unknown, right: unknown) => void;

const metered =
  (operator: Operators[string] & object, work: Work) => (left: unknown, right: unknown, context: Context) => {
    if (context instanceof MeteredContext) work(context.meter, left, right);
    return operator(left, right, context);
  };

/** Lists are compared element by element, or as the texts that they are written as. */
const countComparison: Work = (meter, left, right) => {
  if (typeof left !== "object" && typeof right !== "object") return;
  meter.look((measure(left, meter) + measure(right, meter)) * elementCost);
};

/** At worst the one is compared with the other at every place. */
const countSearch: Work = (meter, left, right) => {
  const sought = measure(right, meter);
  if (Array.isArray(left)) meter.look((measure(left, meter) + left.length * sought) * elementCost);
  else meter.look(measure(left, meter) * (1 + sought / 8));
};

/** Liquid compares elements with a generator for each. */
const elementCost = 16;

/** Liquid's operators, with their work counted before they do it. */
export const meteredOperators: Operators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, operator]) => [name, withWork(name, operator)]),
);
