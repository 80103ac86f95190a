import { CaptureTag, type Context, type Liquid } from "liquidjs";
import { MeteredContext } from "./metered-context.ts";

/** `capture` keeps a part of the HTML, in which all that came from variables is escaped already. */
class MarkupTag extends CaptureTag {
  override *render(context: Context): ReturnType<CaptureTag["render"]> {
    yield* super.render(context);
    if (context instanceof MeteredContext) context.markup.add(String(context.bottom()[this.variable]));
  }
}

/** What is kept is written as it is, as long as no filter changes it. */
export function keepMarkup({ tags }: Liquid): void {
  tags["capture"] = MarkupTag;
}

/** Another text that is the same is markup as harmless. */
export const isKeptMarkup = (context: Context, text: string): boolean =>
  context instanceof MeteredContext && context.markup.has(text);
