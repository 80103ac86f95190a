import { readFileSync } from "node:fs";

/** The path is the same from this file and from the bundle in `dist/src`. */
const packageFile = new URL("../../package.json", import.meta.url);

/** The version of this release, as in its package.json. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { readonly version: string };
  return version;
}
