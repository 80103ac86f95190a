import { hasTemplate, parseTemplate, TemplateFault } from "./template.ts";
import { textOfHtml } from "./text-of-html.ts";

const open = "\u{F0000}";
const close = "\u{F0001}";
const leftOpen = new RegExp(`${open}(\\d+)${close}`, "gu");

/**
 * The text part of HTML that is a template, as a template, where it can be converted once: a sentence with a word left
 * open is the same sentence in both. Null where tags or filters decide what stands in the HTML at all.
 */
export function textTemplateOf(html: string): string | null {
  if (!parseTemplate(html, "html").isPlain) return null;
  const left: string[] = [];
  // Instead of each tag a word of characters that no text has: the converter neither reads nor breaks it.
  const words = html.replace(/\{\{[\s\S]*?\}\}/g, (tag) => `${open}${left.push(tag) - 1}${close}`);
  if (hasTemplate(words) || words.includes("}}") || html.includes(open) || html.includes(close)) return null;
  const text = textOfHtml(words)?.replace(leftOpen, (_, index: string) => left[Number(index)] ?? "");
  return text !== undefined && isTemplate(text) ? text : null;
}

function isTemplate(text: string): boolean {
  try {
    parseTemplate(text, "text");
    return true;
  } catch (failure) {
    if (failure instanceof TemplateFault) return false;
    throw failure;
  }
}
