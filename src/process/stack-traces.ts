import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * From now on, stack traces name files and lines of the sources in place of those of the build. Node does so by itself
 * under `--enable-source-maps`, but it reads all maps at the start, which takes a tenth of its CPU; this reads a map for
 * the first stack trace that needs it. What runs from the sources has no maps beside it, and is left to what loads it.
 */
export function nameSourcesInStackTraces(): void {
  if (import.meta.url.endsWith(".ts")) return;
  const findMap = createMaps();
  Error.prepareStackTrace = (failure, frames) => {
    const lines = frames.map((frame) => `\n    at ${named(frame, findMap)}`);
    return `${Error.prototype.toString.call(failure)}${lines.join("")}`;
  };
}

type FindMap = (built: string) => SourceMap | null;

/** Null for a file that has no map beside it, or none that can be read. */
function createMaps(): FindMap {
  const maps = new Map<string, SourceMap | null>();
  return (built) => {
    const known = maps.get(built);
    if (known !== undefined) return known;
    const map = readMap(built);
    maps.set(built, map);
    return map;
  };
}

function readMap(built: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${built}.map`), "utf8")));
  } catch {
    return null;
  }
}

/** The frame as V8 writes it, at its place in the source. */
function named(frame: NodeJS.CallSite, findMap: FindMap): string {
  const [built, line, column] = [frame.getScriptNameOrSourceURL(), frame.getLineNumber(), frame.getColumnNumber()];
  const said = String(frame);
  if (!built?.startsWith("file:") || line === null || column === null) return said;
  const entry = findMap(built)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !("originalSource" in entry)) return said;
  const source = fileURLToPath(new URL(entry.originalSource, built));
  return said.replace(`${built}:${line}:${column}`, `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`);
}
