import { type Context, defaultOperators, type Operators } from "liquidjs";
import { type Meter, measure } from "./meter.ts";
import { MeteredContext } from "./metered-context.ts";

/** The steps that a filter is going to take, counted before it runs. */
export type FilterWork = (meter: Meter, value: unknown, args: readonly unknown[]) => void;

const constant: FilterWork = () => {};

/** Walks over its input a number of times. */
const over =
  (times: number): FilterWork =>
  (meter, value, args) => {
    meter.look(times * (measure(value, meter) + measureAll(args, meter)));
  };

/** Searches one text in another: at worst it compares the whole text at every position. */
const search =
  (times: number): FilterWork =>
  (meter, value, [pattern, ...others]) => {
    const sought = measure(pattern, meter);
    meter.look(measure(value, meter) * (times + sought / 8) + sought + measureAll(others, meter));
  };

/** Reads a property of each element; Liquid parses the path of the property each time. */
const each: FilterWork = (meter, value, [path, ...others]) => {
  meter.step(lengthOf(value) * (1 + measure(path, meter) / 8 + measureAll(others, meter) / 32));
};

/** Compares each element with some others, to the end of both where they are alike. */
const order: FilterWork = (meter, value, [path]) => {
  each(meter, value, [path]);
  meter.look(measure(value, meter, true) * (1 + Math.log2(1 + lengthOf(value))) * 4);
};

/** Each character of a format looks up the calendar, or that of a country. */
const dates: FilterWork = (meter, value, args) => {
  const signs = typeof args[0] === "string" ? args[0].split("%").length : 4;
  meter.step(70 * signs);
  meter.look(measure(value, meter) + measureAll(args, meter));
};

const measureAll = (values: readonly unknown[], meter: Meter): number =>
  values.reduce<number>((sum, value) => sum + measure(value, meter), 0);

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 1);

const works: Readonly<Record<string, FilterWork>> = {
  cgi_escape: over(10),
  default: constant,
  escape: over(4),
  first: constant,
  last: constant,
  raw: constant,
  size: constant,
  map: each,
  newline_to_br: over(4),
  sum: each,
  where: each,
  sort: order,
  sort_natural: order,
  remove: search(2),
  remove_first: search(1),
  remove_last: search(1),
  replace: search(2),
  replace_first: search(1),
  replace_last: search(1),
  split: search(2),
  uri_escape: over(4),
  url_encode: over(5),
  date: dates,
  date_to_long_string: dates,
  date_to_rfc822: dates,
  date_to_string: dates,
  date_to_xmlschema: dates,
};

/** A filter without an entry walks over its input once. */
export const workOf = (filter: string): FilterWork => works[filter] ?? over(2);

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

/** At worst one text is compared with the other at every position. */
const countSearch: Work = (meter, left, right) => {
  const sought = measure(right, meter);
  if (Array.isArray(left)) meter.look((measure(left, meter) + left.length * sought) * elementCost);
  else meter.look(measure(left, meter) * (1 + sought / 8));
};

/** Liquid compares elements with a generator for each. */
const elementCost = 16;

/** Liquid's operators, with their work counted before they run. */
export const meteredOperators: Operators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, operator]) => [name, withWork(name, operator)]),
);
