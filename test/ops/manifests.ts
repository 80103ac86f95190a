import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";
import { parse, parseAllDocuments } from "yaml";
import { type Config, readConfig } from "../../src/settings/config.ts";
import type { Env } from "../../src/settings/setting-reader.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests look into documents whose shape is what they test.
export type Manifest = any;

const root = new URL("../../", import.meta.url);

export const readText = (path: string): Promise<string> => readFile(new URL(path, root), "utf8");

/** With merge keys, as `docker compose` reads it. */
export const readCompose = async (): Promise<Manifest> => parse(await readText("compose.yaml"), { merge: true });

/** Every document in every file of the folder; one that is no YAML throws, with its place. */
export async function readManifests(folder: string): Promise<readonly { file: string; manifest: Manifest }[]> {
  const files = (await readdir(new URL(folder, root))).filter((name) => name.endsWith(".yaml"));
  const read = files.sort().map(async (file) => {
    const documents = parseAllDocuments(await readText(`${folder}${file}`), { uniqueKeys: true });
    return documents.map((document) => {
      for (const fault of [...document.errors, ...document.warnings]) throw new Error(`${file}: ${fault.message}`);
      return { file, manifest: document.toJS() };
    });
  });
  return (await Promise.all(read)).flat();
}

/** Settings that a container of Waybill gets: every one is asked for, and together they are valid. Answers what they say. */
export function expectValidSettings(env: Readonly<Record<string, string>>, place: string): Config {
  const asked = new Set<string>();
  const watched = new Proxy<Env>(env, {
    get: (settings, name) => {
      asked.add(String(name));
      return settings[String(name)];
    },
  });
  const config = readConfig(watched);
  const unknown = Object.keys(env).filter((name) => !asked.has(name));
  expect(unknown, `${place}: settings that do not exist`).to.deep.equal([]);
  return config;
}
