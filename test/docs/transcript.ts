import { spawnSync } from "node:child_process";
import { expect } from "chai";

/** A command as it was typed, and what was printed after it. */
export type Step = { readonly command: string; readonly expected: string };

/** Of a block with `$ ` before each command; lines that a quote or a here-document leaves open belong to the command. */
export function readSteps(text: string): readonly Step[] {
  const steps: { command: string; expected: string }[] = [];
  for (const line of text.split(/(?<=\n)/)) {
    const last = steps.at(-1);
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), expected: "" });
    else if (last === undefined) throw new Error(`"${line.trim()}" stands before the first "$ "`);
    else if (last.expected === "" && isUnfinished(last.command)) last.command += line;
    else last.expected += line;
  }
  return steps;
}

function isUnfinished(command: string): boolean {
  if (command.endsWith("\\\n")) return true;
  // An open here-document is only warned of.
  const { status, stderr } = spawnSync("bash", ["-n", "-c", command], { encoding: "utf8" });
  return status !== 0 || stderr.includes("here-document");
}

const digests: readonly [RegExp, string] = [/\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b/g, "<digest>"];

/** What is another one on every machine and at every time. */
const changing: readonly (readonly [RegExp, string])[] = [
  // Except ids of version 8, which derive from the request: the same request gets the same id.
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-(?!8)[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uuid>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/\bwhsec_[A-Za-z0-9+/=]+/g, "<secret>"],
  [/\bwb_[A-Za-z0-9_-]+/g, "<key>"],
  [/"worker:[^"]+"/g, '"worker:<name>"'],
  [/"worker":"[^"]+"/g, '"worker":"<name>"'],
];

function normalise(text: string, masks: typeof changing): string {
  const unfolded = text.replaceAll(/([,{[]) *\n */g, "$1").replaceAll(/[ \r]+$/gm, "");
  return masks.reduce((masked, [pattern, name]) => masked.replaceAll(pattern, name), unfolded).trim();
}

/**
 * `…` stands for anything, also for several lines; long lines may be folded after a comma or an opening bracket. Where a
 * document shows digests of nothing but what its own commands say (`hasSameDigests`), they are compared, too.
 */
export function expectPrinted(printed: string, expected: string, hasSameDigests: boolean): void {
  const masks = hasSameDigests ? changing : [...changing, digests];
  const actual = normalise(printed, masks);
  const wanted = normalise(expected, masks);
  const pieces = wanted.split(/\s*…\s*/).map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  // The whole texts in the message: their difference is what a writer mends.
  if (!new RegExp(`^${pieces.join("[^]*?")}$`).test(actual)) expect(actual).to.equal(wanted);
}
