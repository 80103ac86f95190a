import { open, stat } from "node:fs/promises";
import { checkedSealLine } from "./evidence-format.ts";
import { linesOf } from "./log-file.ts";
import type { SealDestination } from "./publish-seals.ts";
import { digestOfSeal, type StoredSeal, toSealAnswer } from "./seal.ts";
import type { SealObserver } from "./seal-observer.ts";

const tailBytes = 65_536;

/** What is no line of seals where one is expected. */
export class NotASealFile extends Error {
  override readonly name = "NotASealFile";
}

/**
 * A line of JSON for each seal, only ever appended to, so that it may lie where nothing can be taken back. A line that
 * a crash has cut off stays, and the whole one follows it. The file is an observer, too: it knows where it has come to.
 */
export const createSealFile = (path: string): SealDestination & SealObserver => ({
  name: `the file ${path}`,
  position: async () => (await lastOf(path))?.sequence ?? 0,
  last: () => lastOf(path),
  // It is told by the publisher, which knows what is missing in it.
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

/** The end of the file, with room for many lines; a line feed where there is no file, or nothing in it. */
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
 * Digests of published seals by their last sequence. A line that is the beginning of the next was cut off by a crash;
 * anything else that is no seal throws NotASealFile, as do two seals that end at one sequence and differ.
 */
export async function readPublishedSeals(path: string): Promise<ReadonlyMap<number, string>> {
  const digests = new Map<number, string>();
  let torn: string | null = null;
  let number = 0;
  for await (const line of linesOf(path)) {
    number += 1;
    if (line === "") continue;
    const seal = toSealOrNull(line);
    const isMended = torn === null || line.startsWith(torn.slice(0, 40));
    if (!isMended) throw new NotASealFile(`Line ${number - 1} of ${path} is no seal`);
    torn = seal === null ? line : null;
    if (seal === null) continue;
    const known = digests.get(seal.to);
    if (known !== undefined && known !== seal.digest) {
      throw new NotASealFile(`Line ${number} of ${path} is another seal of events up to ${seal.to} than one before it`);
    }
    digests.set(seal.to, seal.digest);
  }
  return digests;
}
