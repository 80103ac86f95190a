import { randomUUID } from "node:crypto";
import { chmod, link, mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { newSecretKey, printKeys } from "./secret-keys.ts";

/** Only its owner may read a key. */
export const modeOfKeys = 0o600;

/** Makes a file with a new key, whole or not at all. One that is there, or that another process makes first, is left as it is. */
export async function makeKeyFile(file: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.new`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(draft, printKeys([newSecretKey()]), { mode: modeOfKeys, flush: true });
  await chmod(draft, modeOfKeys);
  try {
    await link(draft, file);
    await flushFolderOf(file);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== "EEXIST") throw failure;
  } finally {
    await rm(draft, { force: true });
  }
}

/** So that the name of a new file survives a crash of the machine: what a lost key has encrypted is lost with it. */
export async function flushFolderOf(file: string): Promise<void> {
  const folder = await open(dirname(file), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
