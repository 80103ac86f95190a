import { readdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { NatsConfig } from "../../src/settings/config.ts";
import { startChildServer, untilReady } from "../../src/standalone/child-server.ts";
import { atEndOfRun } from "./end-of-run.ts";
import { locateOwnBinaries } from "./own-binaries.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export type SubscribedNats = {
  readonly url: string;
  /** As Waybill itself. */
  readonly waybill: NatsConfig;
  readonly passwords: { readonly waybill: string; readonly acme: string };
  cleanUp(): Promise<void>;
};

/** A NATS server with the very configuration that is there for operators to take. */
export async function startSubscribedNats(): Promise<SubscribedNats> {
  const { nats: binary } = await locateOwnBinaries();
  const folder = await temporaryFolder();
  const passwords = { waybill: "of-waybill", acme: "of-acme" };
  const env = ["env", `WAYBILL_PASSWORD=${passwords.waybill}`, `ACME_PASSWORD=${passwords.acme}`, binary];
  const [program = "", ...before] = env;
  const args = ["-c", resolve("ops/nats/subscribers.conf"), "-a", "127.0.0.1", "-p", "-1"];
  const server = await startChildServer({
    name: "nats-server",
    binary: program,
    args: [...before, ...args, "-js", "-sd", join(folder, "store"), "--ports_file_dir", folder],
    folder,
  });
  const cleanUp = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  atEndOfRun(cleanUp);
  const url = await untilReady(server, "nats-server", () => readUrl(folder));
  const waybill = {
    servers: [url],
    user: "waybill",
    password: passwords.waybill,
    credsFile: null,
    caFile: null,
    isOwn: false,
  };
  return { url, waybill, passwords, cleanUp };
}

/** Null until the server has written down where it listens. */
async function readUrl(folder: string): Promise<string | null> {
  const file = (await readdir(folder)).find((name) => name.endsWith(".ports"));
  const text = file === undefined ? "" : await readFile(join(folder, file), "utf8");
  return /nats:\/\/(127\.0\.0\.1:\d+)"/.exec(text)?.[1] ?? null;
}
