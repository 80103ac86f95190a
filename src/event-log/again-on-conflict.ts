import { setTimeout as pause } from "node:timers/promises";
import { VersionConflict } from "./log-failures.ts";

/** An entry of another writer may show a moment after it was refused for: for a second in all, that is waited for. */
const mostInVain = 20;
const firstPauseMs = 5;

/**
 * Writes on what was read, guarded by its sequence, and reads and writes again where another writer was faster. Throws
 * VersionConflict where nothing new is read: what was written last only a newer release can read, and to go on would
 * never end.
 */
export async function againOnConflict<Read extends { readonly sequence: number }, Written>(
  read: () => Promise<Read>,
  write: (from: Read) => Promise<Written>,
): Promise<Written> {
  let inVain = 0;
  for (let before: number | null = null; ; ) {
    const from = await read();
    inVain = from.sequence === before ? inVain + 1 : 0;
    before = from.sequence;
    try {
      return await write(from);
    } catch (failure) {
      if (!(failure instanceof VersionConflict) || inVain === mostInVain) throw failure;
      await pause(inVain * firstPauseMs);
    }
  }
}
