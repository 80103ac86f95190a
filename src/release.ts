import { existsSync, readFileSync } from "node:fs";

/** From here to the package: the compiled tree lies one folder deeper than the source. */
const places = ["../package.json", "../../package.json"];

/** The version of this release, as its package says. */
export function readVersion(): string {
  const place = places.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (place === undefined) return "unknown";
  const { version } = JSON.parse(readFileSync(place, "utf8"));
  return typeof version === "string" ? version : "unknown";
}
