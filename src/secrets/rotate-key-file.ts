import { chmod, chown, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { flushFolderOf, modeOfKeys } from "./make-key-file.ts";
import { newSecretKey, parseKeys, printKeys } from "./secret-keys.ts";

/** Another process changes the file at this moment, or has died while it did. */
export class KeyFileLocked extends Error {
  override readonly name = "KeyFileLocked";
}

/**
 * Puts a new key in front of those of a file, and returns its id. Readers see the file before or after it, never a part;
 * the new key is on the disk before anything is encrypted with it. Comments in the file are lost. Of two processes at once,
 * one throws KeyFileLocked: else one of the keys could be lost together with what it had encrypted by then.
 */
export async function rotateKeyFile(file: string): Promise<string> {
  const lock = `${file}.lock`;
  const held = await open(lock, "wx", modeOfKeys).catch((failure: NodeJS.ErrnoException) => {
    if (failure.code !== "EEXIST") throw failure;
    throw new KeyFileLocked(`${lock} exists: another rotation is at work. If none is, remove it.`, { cause: failure });
  });
  const draft = `${file}.new`;
  try {
    const key = newSecretKey();
    const keys = [key, ...parseKeys(await readFile(file, "utf8"))];
    await writeFile(draft, printKeys(keys), { mode: modeOfKeys, flush: true });
    // The services that could read the old file have to read the new one.
    const { uid, gid, mode } = await stat(file);
    await chown(draft, uid, gid);
    await chmod(draft, mode & 0o777);
    await rename(draft, file);
    await flushFolderOf(file);
    return key.id;
  } finally {
    await rm(draft, { force: true });
    await held.close();
    await rm(lock, { force: true });
  }
}
