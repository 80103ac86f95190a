import { type Context, Liquid, type Template as Node, type Token, Value } from "liquidjs";
import { allowedFilters, allowedTags } from "./allowed.ts";
import { meteredOperators, workOf } from "./counted-work.ts";
import { readDatesInUtc } from "./dates-in-utc.ts";
import { isKeptMarkup, keepMarkup } from "./kept-markup.ts";
import { type Meter, measure } from "./meter.ts";
import { MeteredContext } from "./metered-context.ts";
import { boundFilter, checkBound } from "./safe-ranges.ts";

/** In characters; the content of a job holds a megabyte in all. */
const maxTemplateLength = 256_000;

const noFiles = "A template reads no files";
const refusingFiles = {
  exists: async () => false,
  existsSync: () => false,
  contains: async () => false,
  containsSync: () => false,
  readFile: () => Promise.reject(new Error(noFiles)),
  readFileSync: (): string => {
    throw new Error(noFiles);
  },
  resolve: (): string => {
    throw new Error(noFiles);
  },
};

/**
 * Liquid, limited to what is safe for templates from tenants. An unknown variable is an error: a mail with a gap in place
 * of a name cannot be taken back, and `{{ name | default: "you" }}` gives the text to use without one.
 */
export function createEngine({ escapesHtml }: { readonly escapesHtml: boolean }): Liquid {
  const engine = new Liquid({
    outputEscape: escapesHtml ? escapeOutput : writeOutput,
    operators: meteredOperators,
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: true,
    lenientIf: true,
    dynamicPartials: false,
    relativeReference: false,
    fs: refusingFiles,
    // A mail is the same whichever host writes it.
    timezoneOffset: 0,
    locale: "en-US",
    parseLimit: maxTemplateLength,
  });
  for (const tag of Object.keys(engine.tags)) if (!allowedTags.has(tag)) delete engine.tags[tag];
  for (const filter of Object.keys(engine.filters)) if (!allowedFilters.has(filter)) delete engine.filters[filter];
  if (escapesHtml) {
    escapeOnce(engine);
    keepMarkup(engine);
  }
  readDatesInUtc(engine);
  meterFilters(engine);
  meterRendering(engine);
  engine.registerFilter(boundFilter, checkBound);
  return engine;
}

/** The output of these filters is safe already: escaped again, the reader would see `&lt;` and `<br>`. */
function escapeOnce(engine: Liquid): void {
  engine.registerFilter("escape", { raw: true, handler: (value: unknown) => escapeHtml(toText(value)) });
  engine.registerFilter("newline_to_br", {
    raw: true,
    handler: (value: unknown) => escapeHtml(toText(value)).replace(/\r?\n/g, "<br>\n"),
  });
}

/** Counts the steps of a filter before it runs. */
function meterFilters({ filters }: Liquid): void {
  for (const [name, filter] of Object.entries(filters)) {
    const work = workOf(name);
    const { raw, handler } = typeof filter === "function" ? { raw: false, handler: filter } : filter;
    filters[name] = {
      raw,
      handler(value: unknown, ...args: unknown[]): unknown {
        work(meterOf(this.context), value, args);
        return handler.call(this, value, ...args);
      },
    };
  }
}

/** Counts the items of a loop, and what the loop writes: Liquid itself counts only the output of filters. */
function meterRendering({ renderer }: Liquid): void {
  const render = renderer.renderTemplates;
  renderer.renderTemplates = (nodes, context, emitter = createMeteredEmitter(meterOf(context))) => {
    meterOf(context).step(weightOf(nodes));
    return render.call(renderer, nodes, context, emitter);
  };
}

function createMeteredEmitter(meter: Meter) {
  let buffer = "";
  return {
    get buffer() {
      return buffer;
    },
    write: (part: unknown): void => {
      const text = toText(part);
      meter.hold(text.length);
      buffer += text;
    },
  };
}

function meterOf(context: Context): Meter {
  if (context instanceof MeteredContext) return context.meter;
  throw new Error("A template is filled in without a meter.");
}

/** Liquid writes out a list before its length is known, so the list is measured first. */
function writeOutput(this: { readonly context: Context }, value: unknown): string {
  if (Array.isArray(value)) meterOf(this.context).hold(measure(value, meterOf(this.context)));
  return toText(value);
}

function escapeOutput(this: { readonly context: Context }, value: unknown): string {
  const text = writeOutput.call(this, value);
  return isKeptMarkup(this.context, text) ? text : escapeHtml(text);
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(toText).join("");
  if (typeof value === "object") throw new Error("an object cannot be written");
  return String(value);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);

const weights = new WeakMap<readonly Node[], number>();

/** The steps that it takes to go through these once, besides what they read, filter and write. */
function weightOf(nodes: readonly Node[]): number {
  const known = weights.get(nodes);
  if (known !== undefined) return known;
  const weight = nodes.reduce((sum, node) => sum + weightOfNode(node), 1);
  weights.set(nodes, weight);
  return weight;
}

/** Every branch counts, also one that is not tried. */
function weightOfNode(node: Node): number {
  let weight = 1;
  for (const argument of node.arguments?.() ?? []) {
    weight += argument instanceof Value ? weightOfValue(argument) : weightOfToken(argument);
  }
  return weight;
}

/** To call a filter takes this long, whatever it then does: a template has room for fifty thousand of them. */
const filterWeight = 0.75;

function weightOfValue({ initial, filters }: Value): number {
  let weight = initial.postfix.reduce((sum, token) => sum + weightOfToken(token), filters.length * filterWeight);
  for (const { args } of filters) {
    for (const arg of args) weight += weightOfToken(Array.isArray(arg) ? arg[1] : arg);
  }
  return weight;
}

const weightOfToken = (token: Token | undefined): number => 0.25 + (token ? (token.end - token.begin) / 128 : 0);
