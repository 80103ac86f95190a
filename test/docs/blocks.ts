/** How a block is run, from the comment before it; document.ts explains them. */
export type Directive =
  | { readonly kind: "plain" }
  | { readonly kind: "eventually" }
  | { readonly kind: "exits"; readonly code: number }
  | { readonly kind: "until" | "beside" | "instead"; readonly text: string }
  | { readonly kind: "node" | "tsx" | "mysql" }
  | { readonly kind: "save" | "elsewhere"; readonly file: string }
  | { readonly kind: "not-run"; readonly reason: string };

export type Block = {
  readonly language: string;
  /** Of the document, from 1: where the fence opens. */
  readonly line: number;
  readonly text: string;
  /** Null where neither a comment nor the language says how to run it. */
  readonly directive: Directive | null;
};

/** Pictures and excerpts, which no reader pastes. */
const pictures = new Set(["", "text"]);
const runByThemselves = new Set(["sh", "console", "json"]);

/** The fenced blocks that a reader could paste, in order. A fence may be indented, as in a list. */
export function readBlocks(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^( *)```(.*)$/.exec(lines[at] ?? "");
    if (fence === null) continue;
    const [, indent = "", info = ""] = fence;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end === -1) throw new Error(`The block that opens at line ${at + 1} is never closed`);
    const language = info.trim();
    const text = lines.slice(at + 1, end).map((line) => `${line.slice(indent.length)}\n`);
    if (!pictures.has(language)) {
      blocks.push({ language, line: at + 1, text: text.join(""), directive: directiveAbove(lines, at, language) });
    }
    at = end;
  }
  return blocks;
}

function directiveAbove(lines: readonly string[], fence: number, language: string): Directive | null {
  const above =
    lines
      .slice(0, fence)
      .findLast((line) => line.trim() !== "")
      ?.trim() ?? "";
  if (/^<!-- *(not )?run:.*-->$/.test(above)) return toDirective(above.slice(4, -3).trim());
  return runByThemselves.has(language) ? { kind: "plain" } : null;
}

function toDirective(comment: string): Directive {
  const [, reason] = /^not run: *(.+)$/.exec(comment) ?? [];
  if (reason !== undefined) return { kind: "not-run", reason };
  const [, kind = "", rest = ""] = /^run: *(\w+) *(.*)$/.exec(comment) ?? [];
  const quoted = /^"(.+)"$/.exec(rest)?.[1];
  const file = /^as (\S+)$/.exec(rest)?.[1];
  const test = /^(test\/\S+\.test\.ts)$/.exec(rest)?.[1];
  if ((kind === "node" || kind === "tsx" || kind === "mysql" || kind === "eventually") && rest === "") return { kind };
  if ((kind === "until" || kind === "beside" || kind === "instead") && quoted) return { kind, text: quoted };
  if (kind === "exits" && /^\d+$/.test(rest)) return { kind, code: Number(rest) };
  if (kind === "save" && file) return { kind, file };
  if (kind === "in" && test) return { kind: "elsewhere", file: test };
  throw new Error(`"${comment}" is none of the ways to run a block that test/docs/document.ts lists`);
}
