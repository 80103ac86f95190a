import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The files under a folder that hold one of the texts, each with the text: `<file>: <text>`. */
export async function filesWith(folder: string, texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // A server may remove one of its files between the two.
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    for (const text of texts) {
      if (bytes.includes(text)) found.push(`${path.slice(folder.length + 1)}: ${text}`);
    }
  }
  return found.sort();
}
