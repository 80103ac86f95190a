import { appendFileSync } from "node:fs";
import { mkdtemp, readFile, rm, statfs } from "node:fs/promises";
import { freemem } from "node:os";
import { join, relative } from "node:path";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { cpuMicrosOfChildren } from "../bench/process-usage.ts";
import { fileOf, isSharedByFolder } from "./end-of-run.ts";
import { eventually } from "./eventually.ts";
import { findChromium } from "./find-chromium.ts";
import { findDatabaseSource } from "./server-sources.ts";
import { startOwnMysql, startOwnNats, toNatsUrl } from "./services.ts";
import { shareSystemTables } from "./system-tables.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { watchSharedNats } from "./watch-shared-nats.ts";

/**
 * What a run of all files in parallel shares. Mocha runs each file in one of several processes, so what they share has an
 * address, which stands in the environment: the NATS server, the database server, and the folder that all temporary
 * folders lie in. A run of files one after the other needs none of it, and unit tests need no server.
 */
type Server = { cleanUp(): Promise<void> };
type SharedByRun = { readonly folder: string; readonly servers: readonly Server[] };

let shared: SharedByRun | null = null;

const isParallel = (): boolean => process.argv.includes("--parallel");

/** Mocha calls this by its name, in its first process, before the others start. */
export async function mochaGlobalSetup(): Promise<void> {
  if (!isParallel()) return;
  const folder = await folderOfRun();
  process.env["TEST_FOLDER"] = folder;
  if (process.env["TEST_TIER"] === "unit") {
    shared = { folder, servers: [] };
    return;
  }
  const database = await findDatabaseSource();
  if (database.kind === "binary") await shareSystemTables(database.binary, folder);
  shared = { folder, servers: await startSharedServers() };
  if (process.env["TEST_TIER"] === "all") await shareBrowser();
}

const memory = "/dev/shm";
/** Four times what a run of all tests had in its folder at most. */
const enoughBytes = 4 * 1024 ** 3;

/** In memory where there is room: servers that sync to a disk take a quarter of the time of a run for that. */
async function folderOfRun(): Promise<string> {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  const hasRoom = Math.min(bavail * bsize, freemem()) >= enoughBytes;
  return hasRoom ? await mkdtemp(join(memory, "waybill-test-")) : await temporaryFolder();
}

/** Two processes must not install it at the same time. Where there is none, the tests that need it say so. */
async function shareBrowser(): Promise<void> {
  try {
    process.env["TEST_CHROMIUM"] = await findChromium();
  } catch (failure) {
    if (!(failure instanceof CannotStart)) throw failure;
  }
}

async function startSharedServers(): Promise<readonly Server[]> {
  const [nats, mysql] = await Promise.all([startOwnNats(), startOwnMysql()]);
  process.env["TEST_SHARED_NATS_URL"] = toNatsUrl(nats.config);
  process.env["TEST_SHARED_MYSQL_URL"] = mysql.url;
  // Stopped first, so that it does not miss the server.
  const stopWatch = nats.server === null ? async () => {} : await watchSharedNats(nats.config, nats.server);
  const watched = {
    cleanUp: async (): Promise<void> => {
      await stopWatch();
      await nats.cleanUp();
    },
  };
  return [watched, mysql];
}

/** Mocha calls this by its name, in its first process, after the others have ended. */
export async function mochaGlobalTeardown(): Promise<void> {
  if (shared === null) return;
  const { folder, servers } = shared;
  await printSlowestFiles(timesFileIn(folder));
  await Promise.all(servers.map((server) => server.cleanUp()));
  await rm(folder, { recursive: true, force: true });
}

let begunAt = 0;
let cpuAtBegin = process.cpuUsage();
let childrenAtBegin = 0;
/** How much was open before the files that share what they started, or before this file, which shares nothing. */
let openAtBegin: number | null = null;
let lastFile = "";

/** Around all tests of a file, in the process that runs it. */
export const mochaHooks = {
  async beforeAll(): Promise<void> {
    if (!isSharedByFolder()) await leftNothingOpen();
    openAtBegin ??= openResources().length;
    begunAt = performance.now();
    cpuAtBegin = process.cpuUsage();
    childrenAtBegin = cpuMsOfChildren();
  },
  async afterAll(this: Mocha.Context): Promise<void> {
    const folder = process.env["TEST_FOLDER"];
    const file = fileOf(this);
    if (folder === undefined || file === undefined) return;
    const ms = Math.round(performance.now() - begunAt);
    const { user, system } = process.cpuUsage(cpuAtBegin);
    const times: TimesOfFile = {
      file: relative(process.cwd(), file),
      ms,
      cpuMs: Math.round((user + system) / 1000),
      childrenMs: cpuMsOfChildren() - childrenAtBegin,
    };
    appendFileSync(timesFileIn(folder), `${JSON.stringify(times)}\n`);
    lastFile = times.file;
    if (!isSharedByFolder()) await leftNothingOpen();
  },
};

/**
 * A file that is run alone hangs when its tests leave something open, and so shows it. A process that runs many files
 * ends whatever is open: so it looks after each, or after the last of those that share what they started.
 */
async function leftNothingOpen(): Promise<void> {
  const before = openAtBegin;
  openAtBegin = null;
  if (before === null) return;
  await eventually(() => {
    const open = openResources();
    if (open.length > before) throw new Error(`The tests of ${lastFile} left open: ${open.join(", ")}`);
  }, 10_000);
}

const openResources = (): readonly string[] =>
  process.getActiveResourcesInfo().filter((kind) => /^(TCP|UDP|Process|FSEvent)/.test(kind));

const timesFileIn = (folder: string): string => `${folder}/times.ndjson`;

const slowestFiles = 20;

/** How long the tests of a file took, the CPU of the process that ran them, and that of the processes it started that have ended. */
type TimesOfFile = {
  readonly file: string;
  readonly ms: number;
  readonly cpuMs: number;
  readonly childrenMs: number;
};

/** Linux tells; elsewhere it is 0. */
const cpuMsOfChildren = (): number => (cpuMicrosOfChildren(process.pid) ?? 0) / 1000;

async function printSlowestFiles(timesFile: string): Promise<void> {
  const lines = (await readFile(timesFile, "utf8").catch(() => "")).split("\n").filter(Boolean);
  const times = lines.map((line) => JSON.parse(line) as TimesOfFile);
  const slowest = times.sort((one, other) => other.ms - one.ms).slice(0, slowestFiles);
  const toSeconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(6);
  const toRow = ({ file, ms, cpuMs, childrenMs }: TimesOfFile): string =>
    `  ${toSeconds(ms)} s, CPU ${toSeconds(cpuMs)} s and ${toSeconds(childrenMs)} s  ${file}`;
  const cpuMs = times.reduce((sum, one) => sum + one.cpuMs, 0);
  const childrenMs = times.reduce((sum, one) => sum + one.childrenMs, 0);
  const all = `CPU of all: ${toSeconds(cpuMs)} s, and ${toSeconds(childrenMs)} s in processes that they started`;
  process.stdout.write(`The slowest of ${times.length} test files (${all}):\n${slowest.map(toRow).join("\n")}\n`);
}
