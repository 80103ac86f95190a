import { Unavailable } from "../domain/unavailable.ts";
import type { Archive } from "./archive.ts";
import type { ArchivedEntry } from "./archive-format.ts";

type Placed = { readonly sequence: number };

/** The same entries or events, divided where a sequence is missing before one. */
export function* inRuns<Entry extends Placed>(batch: readonly Entry[]): Generator<readonly Entry[]> {
  let first = 0;
  for (let at = 1; at < batch.length; at += 1) {
    if ((batch[at]?.sequence ?? 0) <= (batch[at - 1]?.sequence ?? 0) + 1) continue;
    yield batch.slice(first, at);
    first = at;
  }
  yield first === 0 ? batch : batch.slice(first);
}

/** The archived entries after a sequence and before another one: what the log lacks there. */
export async function* archivedBetween(
  archive: Pick<Archive, "files" | "entries" | "indexFault">,
  after: number,
  before: number,
): AsyncGenerator<readonly ArchivedEntry[]> {
  if (before <= after + 1) return;
  const files = (await archive.files()).filter(({ from, to }) => to > after && from < before);
  if ((files.at(-1)?.to ?? 0) < before - 1) {
    // A gap in the log itself is legal.
    const fault = await archive.indexFault();
    if (fault !== null) throw new Unavailable(fault);
  }
  for await (const entries of archive.entries(files, after)) {
    const wanted = entries.filter(({ sequence }) => sequence < before);
    if (wanted.length > 0) yield wanted;
  }
}
