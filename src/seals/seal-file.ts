import { open, stat } from "node:fs/promises";
import { checkedSealLine } from "./evidence-format.ts";
import { linesOf } from "./log-file.ts";
import type { SealDestination } from "./publish-seals.ts";
import { digestOfSeal, type StoredSeal, toSealAnswer } from "./seal.ts";
import type { SealObserver } from "./seal-observer.ts";

const tailBytes = 65_536;

/** A line of the file is not a seal. */
export class NotASealFile extends Error {
  override readonly name = "NotASealFile";
}

/**
 * One line of JSON for each seal. The file is only ever appended to, so it may lie on storage that does not allow changes.
 * A line that a crash cut off stays, and the complete line follows it. The file is also an observer: its last line is the
 * last seal that it has seen.
 */
export const createSealFile = (path: string): SealDestination & SealObserver => ({
  name: `the file ${path}`,
  position: async () => (await lastOf(path))?.sequence ?? 0,
  last: () => lastOf(path),
  // The publisher writes the seals, because it knows which ones are missing.
  remember: async () => {},
  publish: async (seals) => {
    const isWhole = (await tailOf(path)).endsWith("\n");
    const file = await open(path, "a", 0o644);
    try {
      const lines = seals.map((seal: StoredSeal) => `${JSON.stringify(toSealAnswer(seal))}\n`).join("");
      await file.appendFile(isWhole ? lines : `\n${lines}`);
      await file.datasync();
    } finally {
      await file.close();
    }
  },
});

async function lastOf(path: string): Promise<{ readonly sequence: number; readonly digest: string } | null> {
  const lines = (await tailOf(path)).split("\n").filter((line) => line !== "");
  const last = lines.map(toSealOrNull).findLast((seal) => seal !== null);
  return last ?? null;
}

/** The end of the file, large enough for many lines; a line feed if there is no file or it is empty. */
async function tailOf(path: string): Promise<string> {
  const size = await stat(path).then(
    (found) => found.size,
    (failure: NodeJS.ErrnoException) => {
      if (failure.code === "ENOENT") return 0;
      throw failure;
    },
  );
  if (size === 0) return "\n";
  const file = await open(path, "r");
  try {
    const length = Math.min(size, tailBytes);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8");
  } finally {
    await file.close();
  }
}

const toSealOrNull = (line: string) => {
  try {
    const seal = checkedSealLine(JSON.parse(line));
    return { ...seal, digest: digestOfSeal(seal) };
  } catch {
    return null;
  }
};

/**
 * Digests of published seals by their last sequence. A line that is the beginning of the next line was cut off by a
 * crash, and so was one that is the beginning of a seal before it, which another process had written whole. Any other line
 * that is not a seal throws NotASealFile, and so do two different seals that end at one sequence.
 */
export async function readPublishedSeals(path: string): Promise<ReadonlyMap<number, string>> {
  const digests = new Map<number, string>();
  const starts: string[] = [];
  let torn: string | null = null;
  let number = 0;
  for await (const line of linesOf(path)) {
    number += 1;
    if (line.trim() === "") continue;
    const seal = toSealOrNull(line);
    const begun = torn?.slice(0, 40) ?? "";
    const isMended = line.startsWith(begun) || starts.some((start) => start.startsWith(begun));
    if (!isMended) throw new NotASealFile(`Line ${number - 1} of ${path} is no seal`);
    torn = seal === null ? line : null;
    if (seal === null) continue;
    starts.push(line.slice(0, 40));
    const known = digests.get(seal.to);
    if (known !== undefined && known !== seal.digest) {
      throw new NotASealFile(`Line ${number} of ${path} is another seal of events up to ${seal.to} than one before it`);
    }
    digests.set(seal.to, seal.digest);
  }
  return digests;
}
