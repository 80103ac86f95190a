/// <reference path="./html-to-text.d.ts" />
import { compile, type Element, type Format } from "html-to-text";
import { hasTemplate, parseTemplate, TemplateFault } from "./template.ts";

const asTheyAre = ["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } }));

/** Quotes and lists, by the names that the converter has for them. Each indents all of its lines. */
const indented: Readonly<Record<string, string>> = {
  blockquote: "blockquote",
  ul: "unorderedList",
  ol: "orderedList",
};
/** More levels than any mail has are no longer indented: each writes every line in it once more, and longer. */
const mostIndented = 10;

const isIndented = ({ name }: Element): boolean => Object.hasOwn(indented, name);

function levelsAround({ parent }: Element): number {
  let levels = 0;
  for (let around = parent; around !== null; around = around.parent) levels += isIndented(around) ? 1 : 0;
  return levels;
}

const indentWithin: Format = (element, walk, builder, options) => {
  const format = levelsAround(element) < mostIndented ? (indented[element.name] ?? "block") : "block";
  builder.options.formatters[format]?.(element, walk, builder, options);
};

/** Nesting deeper than any mail's is cut off with dots: the converter is recursive. */
const convert = compile({
  wordwrap: 78,
  formatters: { indentWithin },
  selectors: [
    ...asTheyAre,
    ...Object.keys(indented).map((selector) => ({ selector, format: "indentWithin" })),
    { selector: "img", format: "skip" },
    { selector: "a", options: { hideLinkHrefIfSameAsText: true, linkBrackets: ["[", "]"] } },
  ],
  limits: { maxDepth: 100, ellipsis: "…" },
});

/** A mail has some hundreds; the converter needs seconds for a hundred thousand nested ones. */
const maxTags = 20_000;
/** Of preformatted text, where each is one of the mail. */
const maxLines = 50_000;

/**
 * The text part of a mail that came as HTML: lines of at most 78 characters, links in brackets after their words. Null
 * where the conversion fails: HTML that the converter cannot handle is no reason to leave a mailing unsent.
 */
export function textOfHtml(html: string): string | null {
  if (hasMoreThan(maxTags, "<", html) || hasMoreThan(maxLines, "\n", html)) return null;
  try {
    return convert(html);
  } catch {
    return null;
  }
}

const hasMoreThan = (most: number, mark: string, text: string): boolean => text.split(mark, most + 2).length > most + 1;

const open = "\u{F0000}";
const close = "\u{F0001}";
const leftOpen = new RegExp(`${open}(\\d+)${close}`, "gu");

/**
 * The text part of an HTML template, as a template itself, where it can be converted once: a sentence with a gap is the
 * same sentence in both. Null where tags or filters decide what the HTML contains.
 */
export function textTemplateOf(html: string): string | null {
  if (!parseTemplate(html, "html").isPlain) return null;
  const left: string[] = [];
  // Each tag is replaced by characters that no text contains, which the converter neither interprets nor breaks.
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
