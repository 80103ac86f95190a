import { LiquidError, type Template as Node, Output } from "liquidjs";
import { markupFilters } from "./allowed.ts";
import { createEngine } from "./engine.ts";
import { Meter, OverLimit } from "./meter.ts";
import { MeteredContext } from "./metered-context.ts";

/** What a template is filled in with: JSON, and nothing that could be called. */
export type Variables = Readonly<Record<string, unknown>>;

export type Place = { readonly line: number; readonly column: number };

/** Why a template cannot be read, or not be filled in: in words, and where, unless it is the whole of it. */
export class TemplateFault extends Error {
  override readonly name = "TemplateFault";
  readonly place: Place | null;
  /** It took as many steps or as much room as there is: one of these is dear, many are an attack. */
  readonly isOverLimit: boolean;

  constructor(reason: string, place: Place | null, isOverLimit = false) {
    super(reason);
    this.place = place;
    this.isOverLimit = isOverLimit;
  }
}

export type Template = {
  /** Throws a TemplateFault. Whether it does depends on the template and the variables, and on nothing else. */
  readonly render: (variables: Variables, meter?: Meter) => string;
  /** Whether what comes out is the source with words in the place of `{{ … }}`, and nothing else. */
  readonly isPlain: boolean;
};

export type TemplateKind = "html" | "text";

const engines = { html: createEngine({ escapesHtml: true }), text: createEngine({ escapesHtml: false }) };

/** Whether there is anything of Liquid in it at all. */
export const hasTemplate = (source = ""): boolean => source.includes("{{") || source.includes("{%");

/** Each takes Liquid 25 µs to read. */
const maxTags = 2000;
/** Liquid calls itself for each, and an error from far down takes it seconds to tell. */
const maxDepth = 100;

/** Throws a TemplateFault where it is no template. */
export function parseTemplate(source: string, kind: TemplateKind): Template {
  const engine = engines[kind];
  const tags = source.match(/\{[{%]/g)?.length ?? 0;
  if (tags > maxTags) throw new TemplateFault(`there are ${tags} tags; expected at most ${maxTags}`, null);
  const depth = depthOf(source);
  if (depth > maxDepth) throw new TemplateFault(`it is nested ${depth} deep; expected at most ${maxDepth}`, null);
  const nodes = said(() => engine.parse(source));
  return {
    render: (variables, meter = new Meter()) =>
      String(said(() => engine.renderSync(nodes, new MeteredContext({ ...variables }, engine, meter)))),
    isPlain: !source.includes("{%") && nodes.every(isPlainNode),
  };
}

/** Of tags in tags, and of brackets within a tag. */
function depthOf(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, isEnd] of source.matchAll(/\{%-?\s*(end)?(?:if|unless|case|for|capture)\b/g)) {
    depth = isEnd === undefined ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  for (const [tag] of source.matchAll(/\{[{%][^[(}]*[[(][^}]*/g)) deepest = Math.max(deepest, bracketsIn(tag));
  return deepest;
}

function bracketsIn(tag: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [sign] of tag.matchAll(/[[\]()]/g)) {
    depth += sign === "[" || sign === "(" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const isPlainNode = (node: Node): boolean =>
  !(node instanceof Output) || !node.value.filters.some(({ name }) => markupFilters.has(name));

/** What Liquid runs into outside of any tag has no place: a limit, or a stack or a string that is too long. */
function said<Result>(step: () => Result): Result {
  try {
    return step();
  } catch (failure) {
    const limit = limitOf(failure);
    if (!LiquidError.is(failure)) throw new TemplateFault(limit ?? "it is too large", null, true);
    const [line = 1, column = 1] = failure.token.getPosition();
    throw new TemplateFault(limit ?? wordsOf(failure), { line, column }, limit !== null);
  }
}

function limitOf(failure: unknown): string | null {
  const cause = LiquidError.is(failure) ? (failure.originalError ?? failure) : failure;
  if (cause instanceof OverLimit) return cause.message;
  if (!(cause instanceof Error)) return null;
  if (cause.message.startsWith("parse length limit")) return "it is longer than 256000 characters";
  return cause.message.startsWith("Maximum call stack") ? "it is nested too deep" : null;
}

/** Without the place at its end, which Liquid writes in its own way. */
const wordsOf = ({ message }: LiquidError): string => message.replace(/(, file:\S*)?, line:\d+, col:\d+$/, "");
