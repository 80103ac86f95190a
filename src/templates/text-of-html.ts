/// <reference path="./html-to-text.d.ts" />
import { compile } from "html-to-text";
import { hasTemplate, parseTemplate, TemplateFault } from "./template.ts";

const asTheyAre = ["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } }));

/** What is nested deeper than any mail ends there, with dots: it is walked recursively. */
const convert = compile({
  wordwrap: 78,
  selectors: [
    ...asTheyAre,
    { selector: "img", format: "skip" },
    { selector: "a", options: { hideLinkHrefIfSameAsText: true, linkBrackets: ["[", "]"] } },
  ],
  limits: { maxDepth: 100, ellipsis: "…" },
});

/** A mail has some hundreds; with a hundred thousand in each other the converter is busy for seconds. */
const maxTags = 20_000;

/**
 * The text part of a mail that came as HTML: lines of at most 78 characters, links in brackets after their words. Null
 * where none can be made: HTML that the converter stumbles over is no reason to leave a mailing unsent.
 */
export function textOfHtml(html: string): string | null {
  if (html.split("<", maxTags + 2).length > maxTags + 1) return null;
  try {
    return convert(html);
  } catch {
    return null;
  }
}

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
