import { LiquidError, type Template as Node, Output } from "liquidjs";
import { markupFilters } from "./allowed.ts";
import { createEngine } from "./engine.ts";
import { Meter, OverLimit } from "./meter.ts";
import { MeteredContext } from "./metered-context.ts";

/** The variables of a template: JSON, and nothing callable. */
export type Variables = Readonly<Record<string, unknown>>;

export type Place = { readonly line: number; readonly column: number };

/** Why a template cannot be read or filled in: the reason, and the place, unless it is the whole template. */
export class TemplateFault extends Error {
  override readonly name = "TemplateFault";
  readonly place: Place | null;
  /** It used up all steps or all room: one such template is expensive, many are an attack. */
  readonly isOverLimit: boolean;

  constructor(reason: string, place: Place | null, isOverLimit = false) {
    super(reason);
    this.place = place;
    this.isOverLimit = isOverLimit;
  }
}

export type Template = {
  /** Throws a TemplateFault, depending only on the template and the variables. */
  readonly render: (variables: Variables, meter?: Meter) => string;
  /** Whether the output is the source with words in place of `{{ … }}`, and nothing else. */
  readonly isPlain: boolean;
};

export type TemplateKind = "html" | "text";

const engines = { html: createEngine({ escapesHtml: true }), text: createEngine({ escapesHtml: false }) };

/** Whether the source contains any Liquid at all. */
export const hasTemplate = (source = ""): boolean => source.includes("{{") || source.includes("{%");

/** Liquid takes 25 µs to read each tag. */
const maxTags = 2000;
/** Liquid is recursive here, and takes seconds to report an error from great depth. */
const maxDepth = 100;

/** Throws a TemplateFault where the source is not a valid template. */
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

/** The depth of tags within tags, and of brackets within a tag. */
function depthOf(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, isEnd] of source.matchAll(/\{%-?\s*(end)?(?:if|unless|case|for|capture)\b/g)) {
    depth = isEnd === undefined ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  // Takes all that it looks at, so that openings without an end are not looked at once more from each of them.
  for (const [tag] of source.matchAll(/\{[{%][^}]*/g)) deepest = Math.max(deepest, bracketsIn(tag));
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

/** Errors outside of any tag have no place: a limit, or a stack or a string that is too long. */
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

/** The message without the place at its end, which Liquid writes in its own format. */
const wordsOf = ({ message }: LiquidError): string => message.replace(/(, file:\S*)?, line:\d+, col:\d+$/, "");
