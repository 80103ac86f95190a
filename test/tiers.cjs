/**
 * Mocha's configuration for the three commands that run many tests. `TEST_TIER` says which of them it is:
 *
 * - `unit` (`npm run test:unit`): the files from which no import leads to what starts a process, the API or a mail server,
 *   nor to test code that opens sockets. They can start no server. This follows from the imports, so that no list of them can be wrong.
 *   Those below that try every step, or sit out times, are left to `npm test`.
 * - `usual`, or nothing (`npm test`): all but the long ones below, and those that drive a browser, which follows from the imports too.
 * - `all` (`npm run test:all`): every file, and the simulation at its full length.
 *
 * Files that are named on the command line run in place of the tier's.
 */
const { spawnSync } = require("node:child_process");
const { readdirSync } = require("node:fs");
const { buildSync } = require("esbuild");
const options = require("../.mocharc.json");

/**
 * Processes that are killed over and over, servers that stay away, whole documents, memory under load, the package. A
 * file or a folder each, the longest first; a name that fits no file is an error.
 */
const long = [
  "test/faults/short-pass.test.ts",
  "test/cluster/",
  "test/ops/backup.test.ts",
  "test/docs/",
  "test/job-kinds/report/memory.test.ts",
  "test/journey/forged-reports.test.ts",
  "test/journey/killed-import.test.ts",
  "test/journey/reports.test.ts",
  "test/journey/mailing-decisions.test.ts",
  "test/journey/frozen-database.test.ts",
  "test/journey/outbox.test.ts",
  "test/journey/killed-report.test.ts",
  "test/journey/killed-schedule.test.ts",
  "test/journey/long-import.test.ts",
  "test/journey/start-without-servers.test.ts",
  "test/journey/repeated-requests.test.ts",
  "test/journey/projector-thread.test.ts",
  "test/journey/busy-machine.test.ts",
  "test/journey/killed-worker.test.ts",
  "test/journey/throttled-receiver.test.ts",
  "test/workers/throttled-mailing.test.ts",
  "test/cli/killed-send.test.ts",
  "test/http/generated-client.test.ts",
  "test/archive/archive-log.test.ts",
  "test/archive/killed-archive.test.ts",
  "test/seals/killed-sealer.test.ts",
  "test/rules/",
  "test/release/",
];

/**
 * They need no server, but seconds: processes in memory that die at each of their steps, clocks that are waited for, and a
 * whole document.
 */
const patient = [
  "test/http/asyncapi.test.ts",
  "test/mailings/crash-points.test.ts",
  "test/mailings/follow-mailings.test.ts",
  "test/mailings/undo-mailing.test.ts",
  "test/mailings/retry-mailing.test.ts",
  "test/mailings/brakes.test.ts",
  "test/mailings/follow-decisions.test.ts",
  "test/mailings/gather-parts.test.ts",
  "test/mailings/import-recipients.test.ts",
  "test/mailings/schedules/follow-schedules.test.ts",
  "test/nats/node-watch.test.ts",
  "test/webhooks/recipient-calls.test.ts",
  "test/webhooks/slow-receivers.test.ts",
  "test/event-log/following/listener.test.ts",
  "test/event-log/following/share-following.test.ts",
  "test/workers/former-workers.test.ts",
];

/** They begin first, after the long ones: a run ends early where nothing slow begins late. */
const slow = [
  "test/simulation/",
  "test/journey/",
  "test/mail/",
  "test/dashboard/",
  "test/projections/",
  "test/cli/",
  "test/event-log/",
  "test/webhooks/",
  "test/http/",
];

const usualLengthOfSimulation = "100";

/** How anything starts a process, or the API or a mail server in this one. */
const starters = ["node:child_process", "koa", "smtp-server"];

/** How test code makes a server of its own, or speaks to one. */
const sockets = ["node:net", "node:http", "node:dgram"];

const files = readdirSync("test", { recursive: true })
  .map((name) => `test/${name}`)
  .filter((name) => name.endsWith(".test.ts"));

/** Where it stands in a list of files and folders; after all of them where it does not. */
function placeIn(list, file) {
  const place = list.findIndex((name) => file.startsWith(name));
  return place === -1 ? list.length : place;
}

const isIn = (list, file) => placeIn(list, file) < list.length;

/** Returns a search: the modules from which imports lead to a package that is wanted in the module that imports it. */
function createSearch() {
  const { inputs } = buildSync({
    stdin: { contents: files.map((file) => `import "./${file}";`).join("\n"), resolveDir: process.cwd() },
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    metafile: true,
    write: false,
  }).metafile;
  const importersOf = new Map(Object.keys(inputs).map((file) => [file, []]));
  for (const [file, { imports }] of Object.entries(inputs)) {
    for (const { path, external } of imports) if (!external) importersOf.get(path).push(file);
  }
  return function leadingTo(isWanted) {
    const importsIt = (file) => inputs[file].imports.some(({ path, external }) => external && isWanted(path, file));
    const found = new Set(Object.keys(inputs).filter(importsIt));
    // A set that grows while it is read is read to its end.
    for (const file of found) for (const importer of importersOf.get(file)) found.add(importer);
    return found;
  };
}

const isOutside = (name, file) => starters.includes(name) || (file.startsWith("test/") && sockets.includes(name));
const isBrowser = (name) => name === "playwright-core";

function filesOf(tier) {
  const named = [...long, ...patient];
  for (const name of named) if (!files.some((file) => file.startsWith(name))) throw new Error(`There is no ${name}`);
  const leadingTo = createSearch();
  const [outside, inBrowser] = [leadingTo(isOutside), leadingTo(isBrowser)];
  const unit = files.filter((file) => !outside.has(file) && !isIn(patient, file));
  const isUsual = (file) => unit.includes(file) || (!isIn(long, file) && !inBrowser.has(file));
  const tiers = { unit: () => unit, usual: () => files.filter(isUsual), all: () => files };
  if (tiers[tier] === undefined) throw new Error(`TEST_TIER is "${tier}"; expected ${Object.keys(tiers).join(", ")}`);
  const begin = [...long, ...patient, ...slow];
  const placeOf = (file) => (unit.includes(file) ? begin.length + 1 : placeIn(begin, file));
  return tiers[tier]().toSorted((one, other) => placeOf(one) - placeOf(other));
}

/**
 * Five files at a time leave a fifth of two cores idle, because many of them wait. On a machine where Node takes long to
 * start, more than it bears starve those that drive a browser or wait for a process: a usual one starts it in 20 ms, and
 * bears six; one that takes 40 bears four.
 */
function filesAtOnce() {
  const starts = Array.from({ length: 5 }, () => {
    const began = performance.now();
    spawnSync(process.execPath, ["-e", "0"]);
    return performance.now() - began;
  });
  return Math.max(3, Math.min(6, Math.floor(160 / Math.min(...starts))));
}

// Node 20 parses these and its own certificates at every start, which triples the time of that. No test speaks to a host outside.
delete process.env.NODE_EXTRA_CA_CERTS;
// What the tests ask for the size of a run gets an answer in the processes that mocha starts, too.
process.env.TEST_TIER ??= "usual";
const tier = process.env.TEST_TIER;
if (tier !== "all") process.env.SIMULATION_RUNS ??= usualLengthOfSimulation;
const saysHowMany = process.argv.includes("--jobs");
const namesFiles = process.argv.slice(2).some((argument) => argument.endsWith(".test.ts"));

module.exports = {
  ...options,
  ...(saysHowMany ? {} : { jobs: filesAtOnce() }),
  ...(namesFiles ? {} : { spec: filesOf(tier) }),
};
