import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { addDoctorCommand } from "../../src/cli/doctor.ts";
import { addRebuildCommand } from "../../src/cli/rebuild.ts";
import { addSealCommands } from "../../src/cli/seals.ts";
import { addVerifyCommand } from "../../src/cli/verify.ts";
import { startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { type CommandLine, createCommandLine } from "../support/cli.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import type { TestMailServer } from "../support/mail-server.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import type { TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { settingsFor, startWaybill } from "../support/waybill.ts";

const run = promisify(execFile);

/** A NATS server whose store may be copied and thrown away: one of the test's own, wherever the others run. */
export type CopiedNats = Pick<TestNats, "config" | "prefix"> & {
  /** As an orderly end of the machine: nothing of the store is left to be written. */
  stop(): Promise<void>;
  /** The store as one moment found it, as the snapshot of a volume has it: the server runs before and after. */
  copyWhileRunning(archive: string): Promise<void>;
  copyStopped(archive: string): Promise<void>;
  /** With all that it has stored. */
  destroy(): Promise<void>;
};

/** From an archive, if one is given: on another port, as on another machine. */
export async function startCopiedNats(archive?: string): Promise<CopiedNats> {
  const { nats: binary } = await locateOwnBinaries();
  const dataDir = await temporaryFolder();
  if (archive !== undefined) await run("tar", ["-xzf", archive, "-C", dataDir]);
  const server = await startNatsServer({ dataDir, binary });
  const { user, password, servers } = server;
  const copy = async (to: string): Promise<void> => {
    await run("tar", ["-czf", to, "-C", dataDir, "store"]);
  };
  const destroy = async (): Promise<void> => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  atEndOfRun(destroy);
  return {
    config: { servers, user, password, credsFile: null, caFile: null, isOwn: false },
    prefix: "",
    stop: server.stop,
    copyStopped: copy,
    copyWhileRunning: async (to) => {
      process.kill(server.pid, "SIGSTOP");
      try {
        await copy(to);
      } finally {
        process.kill(server.pid, "SIGCONT");
      }
    },
    destroy,
  };
}

export type RunningOn = {
  readonly client: ApiClient;
  readonly commands: CommandLine;
  /** `dependencies` of `/readyz`. */
  health(): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>>;
  /** Lets a scheduled job start now. */
  startNow(jobId: string): Promise<void>;
  stop(): Promise<void>;
};

type Place = {
  readonly nats: CopiedNats;
  readonly mysqlUrl: string;
  readonly mailServer: TestMailServer;
  readonly sealFile: string;
};

/** Waybill with seals that are made at once, and the commands that an operator has. */
export async function startOn({ nats, mysqlUrl, mailServer, sealFile }: Place, roles?: string): Promise<RunningOn> {
  const surroundings = { nats, mysqlUrl, smtpUrl: mailServer.url };
  const settings = { SEAL_FILE: sealFile, SEAL_EVERY_MINUTES: "0.01" };
  const waybill = await startWaybill(surroundings, roles === undefined ? settings : { ...settings, ROLES: roles });
  const env = { ...settingsFor(surroundings), ...settings };
  return {
    client: createApiClient(waybill.url),
    commands: createCommandLine([addDoctorCommand, addRebuildCommand, addSealCommands, addVerifyCommand], env),
    health: async () => {
      const { dependencies } = (await (await fetch(`${waybill.url}/readyz`)).json()) as {
        dependencies: Record<string, Record<string, unknown>>;
      };
      return dependencies;
    },
    startNow: async (jobId) => {
      const headers = { "Content-Type": "application/json" };
      const init = { method: "PATCH", headers, body: JSON.stringify({ scheduledAt: null }) };
      // On a busy machine the service may ask for one more request, and have done the first: the job has started then.
      const start = async () => (await fetch(`${waybill.url}/api/jobs/${jobId}`, init)).status;
      await eventually(async () => expect(await start()).to.be.oneOf([200, 409]));
    },
    stop: waybill.stop,
  };
}

const everything = ["", "/logs", "/recipients", "/events"];

/** Answers by their paths. */
export type Picture = Readonly<Record<string, unknown>>;

/** All that the service answers about these jobs, and about what it keeps beside them. */
export async function pictureOf({ client }: RunningOn, jobIds: readonly string[]): Promise<Picture> {
  const paths = [
    ...jobIds.flatMap((id) => everything.map((part) => `/api/jobs/${id}${part}`)),
    "/api/jobs",
    "/api/dead-letters",
    "/api/suppressions",
  ];
  const answers = await Promise.all(paths.map(async (path) => [path, await bodyOf(client, path)] as const));
  return Object.fromEntries(answers);
}

/** A refusal in the picture, as a busy machine may give one, would never be equal to what comes later. */
const bodyOf = (client: ApiClient, path: string): Promise<unknown> =>
  eventually(async () => {
    const { status, body } = await client.get(path);
    expect(status, `${path}: ${JSON.stringify(body)}`).to.equal(200);
    return body;
  });

export const archiveIn = (folder: string, name: string): string => join(folder, `${name}.tar.gz`);
