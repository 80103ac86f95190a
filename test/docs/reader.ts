import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePort } from "../support/free-port.ts";
import { nodeFlags } from "../support/node-flags.ts";
import { openSession, type Session } from "./session.ts";

/** A person who follows a document on a machine of their own: a checkout, a shell, free ports. */
export type Reader = {
  readonly folder: string;
  readonly session: Session;
  /** Said before a script: curl takes any answer for a success, unless it is told otherwise. */
  readonly minding: { readonly httpErrors: string; readonly nothing: string };
  /** With the ports of this run in the places of those that the document names. */
  toRun(text: string): string;
  /** The other way round. */
  toShow(printed: string): string;
  /** See DocumentOptions. */
  readonly hasSameDigests: boolean;
  leave(): Promise<void>;
};

const checkout = fileURLToPath(new URL("../..", import.meta.url));

/** Where a number is a port: in addresses, in settings and in what listens. */
const portPattern =
  /(?<=(?:127\.0\.0\.1|localhost|0\.0\.0\.0):|\blisten\(|PORT=|\bport[:=] *|--port[= ]|-p )\d{4,5}\b/g;

export async function becomeReader(
  document: string,
  env: Readonly<Record<string, string>>,
  hasSameDigests: boolean,
): Promise<Reader> {
  const home = await mkdtemp(join(tmpdir(), "waybill-docs-"));
  const folder = join(home, "waybill");
  await makeCheckout(folder);
  await makePrograms(join(home, "bin"));
  await mkdir(join(home, "scratch"));
  await writeFile(join(home, "scratch/.curlrc"), "fail-with-body\n");
  const ports = await choosePorts(document);
  const session = openSession(folder, join(home, "scratch"), {
    PATH: `${join(home, "bin")}:${process.env["PATH"]}`,
    HOME: home,
    LANG: "C.UTF-8",
    PORT: String(ports.get("3000")),
    LOG_LEVEL: "silent",
    // `npx tsx` shall find the checkout's, and nothing on the network.
    npm_config_offline: "true",
    ...env,
  });
  return {
    folder,
    session,
    hasSameDigests,
    minding: { httpErrors: `export CURL_HOME='${join(home, "scratch")}'\n`, nothing: "unset CURL_HOME\n" },
    toRun: (text) => text.replaceAll(portPattern, (port) => String(ports.get(port) ?? port)),
    toShow: (printed) =>
      [...ports].reduce((text, [shown, used]) => text.replaceAll(new RegExp(`\\b${used}\\b`, "g"), shown), printed),
    leave: async () => {
      await session.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** What the documents say of files holds in here; what they write stays in here. */
async function makeCheckout(folder: string): Promise<void> {
  await mkdir(folder);
  const ownToEachCheckout = new Set([".git", ".env", ".waybill"]);
  for (const name of await readdir(checkout)) {
    if (!ownToEachCheckout.has(name)) await symlink(join(checkout, name), join(folder, name));
  }
}

async function makePrograms(folder: string): Promise<void> {
  await mkdir(folder);
  const waybill = `exec '${process.execPath}' ${nodeFlags.join(" ")} '${join(checkout, "dist/src/main.js")}'`;
  // A person who follows a document sits at a terminal, so the log is readable text.
  await writeFile(join(folder, "terminal.mjs"), "process.stderr.isTTY = true;\n");
  const seated = `[ "$1" != start ] || export NODE_OPTIONS='--import ${join(folder, "terminal.mjs")}'`;
  await writeFile(join(folder, "waybill"), `#!/bin/sh\n${seated}\n${waybill} "$@"\n`);
  // Dependencies are installed and the build is made before any test runs.
  const npm = `case "$1" in ci) ;; start) exec waybill start ;; *) echo "npm $1 is not run here" >&2; exit 1 ;; esac`;
  await writeFile(join(folder, "npm"), `#!/bin/sh\n${npm}\n`);
  for (const name of ["waybill", "npm"]) await chmod(join(folder, name), 0o755);
}

async function choosePorts(document: string): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  for (const port of ["3000", ...(document.match(portPattern) ?? [])]) {
    if (!ports.has(port)) ports.set(port, await findFreePort());
  }
  return ports;
}

/** Where the instance that `npm start` brought up in this folder keeps its read models. */
export async function databaseOf({ folder }: Reader): Promise<string> {
  const { mysqlUrl }: { mysqlUrl: string } = JSON.parse(
    await readFile(join(folder, ".waybill/addresses.json"), "utf8"),
  );
  return mysqlUrl;
}
