import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** The text of a file of the checkout. */
export const readPage = (path: string): Promise<string> => readFile(`${checkout}${path}`, "utf8");
