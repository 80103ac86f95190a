import { posix } from "node:path";

/** What a page points to, relative to the checkout; the heading is null where the whole file is meant. */
export type Link = { readonly text: string; readonly path: string; readonly heading: string | null };

const withoutCode = (markdown: string): string =>
  markdown.replaceAll(/^( *)```(?:.|\n)*?^\1```$/gm, "").replaceAll(/`[^`\n]*`/g, "`");

/** Links and pictures of a page (`page` is its path in the checkout) that lead to files of the checkout. */
export function linksOf(page: string, markdown: string): readonly Link[] {
  return [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", heading = null] = target.split("#");
      return { text: target, path: path === "" ? page : posix.join(posix.dirname(page), path), heading };
    });
}

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const headings = markdown.replaceAll(/^( *)```(?:.|\n)*?^\1```$/gm, "").matchAll(/^#{1,6} (.+)$/gm);
  for (const [, heading = ""] of headings) {
    const anchor = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-");
    let free = anchor;
    for (let again = 1; anchors.has(free); again += 1) free = `${anchor}-${again}`;
    anchors.add(free);
  }
  return anchors;
}

/** The files and folders of the checkout that a page names as code, without those that have a placeholder in them. */
export const namedFiles = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/`((?:src|projections|migrations|test|ops|\.ci)\/[^`\s]*)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => !/[<>*…]/.test(path));
