/// <reference path="./html-to-text.d.ts" />
import { compile } from "html-to-text";

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
