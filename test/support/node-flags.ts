import { readFileSync } from "node:fs";

const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

/** Those with which `npm start` runs the built program. */
export const nodeFlags: readonly string[] = scripts.start.split(" ").filter((word: string) => word.startsWith("--"));
