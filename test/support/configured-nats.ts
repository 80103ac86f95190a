import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { startChildServer, untilReady } from "../../src/standalone/child-server.ts";
import { atEndOfRun } from "./end-of-run.ts";
import { locateOwnBinaries } from "./own-binaries.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export type ConfiguredNats = {
  /** As `127.0.0.1:41234`. */
  readonly url: string;
  cleanUp(): Promise<void>;
};

/** A NATS server with a configuration of its own, in an environment of its own. It stores in a folder of its own. */
export async function startConfiguredNats(
  configFile: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ConfiguredNats> {
  const { nats: binary } = await locateOwnBinaries();
  const folder = await temporaryFolder();
  const server = await startChildServer({
    name: "nats-server",
    binary: "env",
    args: [
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
      ...[binary, "-c", configFile, "-a", "127.0.0.1", "-p", "-1"],
      ...["-js", "-sd", join(folder, "store"), "--ports_file_dir", folder],
    ],
    folder,
  });
  const cleanUp = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  atEndOfRun(cleanUp);
  return { url: await untilReady(server, "nats-server", () => readUrl(folder)), cleanUp };
}

/** Null until the server has written down where it listens. */
async function readUrl(folder: string): Promise<string | null> {
  const file = (await readdir(folder)).find((name) => name.endsWith(".ports"));
  const text = file === undefined ? "" : await readFile(join(folder, file), "utf8");
  return /nats:\/\/(127\.0\.0\.1:\d+)"/.exec(text)?.[1] ?? null;
}
