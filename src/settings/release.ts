import { existsSync, readFileSync } from "node:fs";

/** The paths from this file to the package: the compiled tree lies one folder deeper than the source. */
const paths = ["../../package.json", "../../../package.json"];

/** The version of this release, as in its package.json. */
export function readVersion(): string {
  const place = paths.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (place === undefined) return "unknown";
  const { version } = JSON.parse(readFileSync(place, "utf8"));
  return typeof version === "string" ? version : "unknown";
}
