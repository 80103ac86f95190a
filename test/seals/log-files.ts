import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type LogMessage, leafHashOf } from "../../src/event-log/log-message.ts";
import type { LogSource } from "../../src/seals/check.ts";
import { logFileFormat, openLogFile, toLine } from "../../src/seals/log-file.ts";
import { createGrowingTree } from "../../src/seals/merkle.ts";
import { digestOfSeal, readSeal, type StoredSeal, signSeal } from "../../src/seals/seal.ts";
import type { SealKey } from "../../src/seals/seal-key.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Writes messages down as an export holds them, whatever they are by now. */
export async function exported(messages: readonly LogMessage[], lastSequence?: number): Promise<string> {
  const path = join(await temporaryFolder(), "log.ndjson");
  const head = { format: logFileFormat, lastSequence: lastSequence ?? messages.at(-1)?.sequence ?? 0 };
  await writeFile(path, [JSON.stringify(head), ...messages.map(toLine), ""].join("\n"));
  return path;
}

export const fileOf = async (messages: readonly LogMessage[]): Promise<LogSource> =>
  openLogFile(await exported(messages));

export const withText = (message: LogMessage, change: (text: string) => string): LogMessage => ({
  ...message,
  body: Buffer.from(change(Buffer.from(message.body).toString())),
});

export const replaced = (
  messages: readonly LogMessage[],
  sequence: number,
  change: (message: LogMessage) => LogMessage,
): readonly LogMessage[] => messages.map((message) => (message.sequence === sequence ? change(message) : message));

/** A forger with a key who has changed the log: makes all seals anew, in their old places. */
export function resealed(messages: readonly LogMessage[], key: SealKey): readonly LogMessage[] {
  let before: StoredSeal | null = null;
  const anew: LogMessage[] = [];
  for (const message of messages) {
    const seal = readSeal(message);
    if (seal === null) {
      anew.push(message);
      continue;
    }
    const tree = createGrowingTree();
    for (const one of anew) if (one.sequence >= seal.from && one.sequence <= seal.to) tree.add(leafHashOf(one));
    const { from, to, sealedAt } = seal;
    const [count, root] = [tree.size(), tree.root().toString("hex")];
    const previous: string | null = before === null ? null : digestOfSeal(before);
    const { sealedAt: _, ...data } = signSeal({ from, to, count, root, previous, sealedAt }, key);
    before = { ...data, sealedAt, sequence: seal.sequence };
    anew.push(withText(message, (text) => JSON.stringify([{ ...JSON.parse(text)[0], data }])));
  }
  return anew;
}
