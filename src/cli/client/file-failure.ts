import { createReadStream } from "node:fs";
import { NotUtf8, textOf } from "../../schemas/line-file.ts";

const words: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOSPC: "the disk is full",
};

/** Why a file cannot be read or written, in words. */
export function whyNoFile(failure: unknown): string {
  if (failure instanceof NotUtf8) return `line ${failure.line} is not UTF-8`;
  const { code = "", message }: NodeJS.ErrnoException = failure instanceof Error ? failure : new Error(String(failure));
  return words[code] ?? message;
}

/**
 * The text of a file, without a byte order mark. Throws NotUtf8 for any other encoding: its letters would become question
 * marks in every mail.
 */
export async function readTextFile(path: string): Promise<string> {
  let text = "";
  for await (const some of textOf(createReadStream(path))) text += some;
  return text;
}
