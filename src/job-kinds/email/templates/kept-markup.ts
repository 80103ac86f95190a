import { CaptureTag, type Context, type Liquid } from "liquidjs";
import { MeteredContext } from "./metered-context.ts";

/** `capture` keeps a part of the HTML, in which all that came from variables is escaped already. */
class MarkupTag extends CaptureTag {
  override *render(context: Context): ReturnType<CaptureTag["render"]> {
    yield* super.render(context);
    if (context instanceof MeteredContext) context.markup.add(String(context.bottom()[this.variable]));
  }
}

/** Filters that take white space away, and add nothing. */
const ofWhiteSpace = ["strip", "lstrip", "rstrip", "strip_newlines"];

/** What is kept is written as it is, as long as no other filter changes it. */
export function keepMarkup({ tags, filters }: Liquid): void {
  tags["capture"] = MarkupTag;
  for (const name of ofWhiteSpace) {
    const filter = filters[name];
    if (typeof filter !== "function") throw new Error(`Liquid has no filter ${name}.`);
    filters[name] = function keeping(value: unknown, ...args: unknown[]): unknown {
      const { context } = this;
      const text: unknown = filter.call(this, value, ...args);
      if (context instanceof MeteredContext && context.markup.has(String(value))) context.markup.add(String(text));
      return text;
    };
  }
}

/** Another text that is the same is markup as harmless. */
export const isKeptMarkup = (context: Context, text: string): boolean =>
  context instanceof MeteredContext && context.markup.has(text);
