import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { linksOf } from "../pages/links.ts";
import { createApiClient } from "../support/api-client.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const checkout = fileURLToPath(new URL("../../", import.meta.url));
/** Another release of Node than the one that runs the tests. */
const node = process.env["TEST_NODE"] ?? process.execPath;

/** What is shipped without anything in the code naming it. */
const needed = [
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
  "dist/sdk/client.js",
  "dist/sdk/client.d.ts",
  "dist/sdk/api.d.ts",
  "dist/licences.txt",
  "dist/src/main.js",
  "dist/src/main.js.map",
  "dist/src/run-projector-thread.js",
  "dist/src/dashboard/app/main.js",
  "dist/src/dashboard/app/main.css",
  "dist/src/dashboard/licences/preact/LICENSE",
  "dist/src/dashboard/licences/@preact/signals/LICENSE",
  "dist/src/dashboard/licences/@preact/signals-core/LICENSE",
  "dist/src/dashboard/licences/uplot/LICENSE",
  "dist/src/api-reference/app/swagger-ui-bundle.js",
  "dist/src/api-reference/app/LICENSE",
];
const shipped =
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|ops\/guides\/.+\.md|src\/(?:archive|seals)\/README\.md|src\/dashboard\/screenshots\/.+\.png|dist\/(?:src|sdk)\/.+|dist\/licences\.txt)$/;
const kinds = /(\.js|\.d\.ts|\.js\.map|\.css|\.txt|\/LICENSE|\/NOTICE)$/;

/** What an application does with the client. Run with the address of a service. */
const application = `
import { RequestRefused, verifyEvidence, verifyWebhook, Waybill, type Job, type JobRequest, type MailRecipient } from "waybill/client";
declare const process: { readonly argv: readonly string[] };

const waybill = new Waybill({ url: String(process.argv[2]) });
const request: JobRequest = {
  subject: "Hello {{ name }}",
  body: "It works.",
  recipients: [{ email: "ada@example.com", variables: { name: "Ada" } }, { email: "bob@example.com", variables: { name: "Bob", lines: [{ price: 2.5 }] } }],
};
const { jobId } = await waybill.jobs.create(request, { idempotencyKey: "welcome-1" });
const job: Job = await waybill.jobs.wait(jobId, { timeoutMs: 30_000 });
console.log(job.status, job.progress.sent);

const { mailingId } = await waybill.mailings.create({ subject: "News", body: "Hello {{ name }}" });
async function* readers() {
  for (let number = 0; number < 3; number += 1) yield { email: "reader" + number + "@example.com", variables: { name: "R" } };
}
console.log((await waybill.mailings.addRecipients(mailingId, readers)).added);
await waybill.mailings.start(mailingId);
console.log((await waybill.mailings.wait(mailingId, { timeoutMs: 30_000 })).progress.sent);

let jobs = 0;
for await (const { id } of waybill.jobs.list({ pageSize: 1 })) jobs += id === "" ? 0 : 1;
console.log(jobs);
for await (const event of waybill.events.follow({ types: ["JobCreated"] })) {
  if (event.type === "JobCreated") console.log(event.data.total);
  break;
}
try {
  await waybill.jobs.get("00000000-0000-4000-8000-000000000000");
} catch (failure) {
  if (failure instanceof RequestRefused && failure.code === "job-not-found") console.log(failure.status);
}
const named: readonly MailRecipient[] = ["Ada <ada@example.com>", { email: "bob@example.com", name: "Bob" }];
const shown = await waybill.jobs.dryRun({ subject: "Hi", html: "<p>Hi</p>", recipients: named });
console.log(shown.mail.to);
const outcomes: string[] = [];
for await (const { email, status } of waybill.jobs.logs(jobId, { limit: 1 })) outcomes.push(email + " " + status);
console.log(outcomes.join(", "));
for await (const { status } of waybill.mailings.recipients(mailingId, { pageSize: 2 })) outcomes.push(status);
console.log(outcomes.length);
const { publicKey } = await waybill.request("get", "/api/seals/key");
const proven = await verifyEvidence(await waybill.jobs.evidence(jobId), { keys: [publicKey] });
console.log(proven.jobId === jobId, proven.events[0]?.type);
for (const list of [waybill.schedules.list(), waybill.templates.list(), waybill.suppressions.list(), waybill.deadLetters.list()]) {
  for await (const _ of list) throw new Error("There is something.");
}
console.log((await waybill.webhookEndpoints.list()).length);
await waybill.notifications.markAllRead();
const stats = await waybill.stats();
console.log(typeof stats.jobs, typeof verifyWebhook);
const told = await verifyWebhook({ headers: {}, body: "", secret: "whsec_" }).catch(() => null);
if (told?.type === "job.completed") console.log(told.data.progress.sent);
if (told?.type === "recipient.batch") console.log(told.data[0]?.email);
// @ts-expect-error A misspelt field is found by the compiler.
const misspelt: JobRequest = { ...request, subjet: "Hello" };
console.log(Object.keys(misspelt).length);
`;

describe("The package, as npm packs it", () => {
  let folder: string;
  let files: readonly string[];
  let main: string;

  before(async function () {
    this.timeout(120_000);
    folder = await temporaryFolder();
    await execute("npm", ["run", "build:licences"], { cwd: checkout });
    const { stdout } = await execute("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
      cwd: checkout,
      maxBuffer: 64 * 1024 * 1024,
    });
    const [packed] = JSON.parse(stdout) as [{ filename: string; files: readonly { path: string }[] }];
    files = packed.files.map(({ path }) => path);
    main = await install(join(folder, packed.filename));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** As npm would, but alone: the bundle holds every package that it needs, and nothing else is in reach. */
  async function install(tarball: string): Promise<string> {
    const own = join(folder, "node_modules/waybill");
    await mkdir(own, { recursive: true });
    await execute("tar", ["-xzf", tarball, "--strip-components=1", "-C", own]);
    return join(own, "dist/src/main.js");
  }

  it("holds what it needs, and neither tests nor sources nor what the build keeps for itself", () => {
    expect(files).to.include.members(needed);
    expect(files.filter((path) => !shipped.test(path))).to.deep.equal([]);
    const odd = files.filter((path) => path.startsWith("dist/") && !kinds.test(path));
    expect(odd).to.deep.equal([]);
  });

  it("holds every page and picture that its pages lead to", async () => {
    for (const page of files.filter((path) => path.endsWith(".md"))) {
      const markdown = await readFile(join(folder, "node_modules/waybill", page), "utf8");
      expect(files, page).to.include.members(linksOf(page, markdown).map(({ path }) => path));
    }
  });

  it("holds a licence of everything that is bundled", async () => {
    for (const path of needed.filter((name) => name.endsWith("LICENSE"))) {
      expect((await readFile(join(folder, "node_modules/waybill", path), "utf8")).length, path).to.be.above(500);
    }
    const texts = (await readFile(join(folder, "node_modules/waybill/dist/licences.txt"), "utf8")).split(/^== /m);
    const licences = texts.slice(1).map((text) => /^(\S+)\n(.*)/s.exec(text)?.slice(1) as [string, string]);
    const bundled = (await lockedPackages()).filter(([name, { dev }]) => name !== "" && dev !== true);
    expect(licences.map(([name]) => `node_modules/${name}`)).to.have.members(bundled.map(([name]) => name));
    // Its package has no licence file; package.json says MIT.
    const short = licences.filter(([, text]) => text.length < 500).map(([name]) => name);
    expect(short).to.deep.equal(["koa-compose"]);
  });

  it("runs no script when it is installed, nor does anything that it depends on", async () => {
    const { scripts = {} } = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
    expect(Object.keys(scripts)).not.to.include.members(["preinstall", "install", "postinstall", "prepare"]);
    const withScript = (await lockedPackages()).filter(
      ([, { dev, hasInstallScript }]) => hasInstallScript === true && dev !== true,
    );
    expect(withScript.map(([name]) => name)).to.deep.equal([]);
  });

  it("has its client once npm start has built the service, without a build of its own", async () => {
    const { scripts, exports } = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
    expect(scripts.prestart).to.include("npm run --silent build;");
    expect(scripts.build).to.include("npm run --silent build:client ");
    expect(scripts["build:client"]).to.include(`--outdir=${dirname(exports["./client"].default).slice(2)}`);
  });

  it("says what it can do", async () => {
    const { stdout } = await execute(node, [main, "--help"]);
    expect(stdout).to.include("Usage: waybill").and.include("waybill start");
  });

  it("is a command for npx, in a folder that has it installed", async () => {
    const { version, bin } = JSON.parse(await readFile(join(folder, "node_modules/waybill/package.json"), "utf8"));
    // As npm does when it installs the package.
    await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
    await symlink(join("../waybill", bin.waybill), join(folder, "node_modules/.bin/waybill"));
    await chmod(join(folder, "node_modules/waybill", bin.waybill), 0o755);
    const { stdout } = await execute("npx", ["--no-install", "waybill", "--version"], { cwd: folder });
    expect(stdout.trim()).to.equal(version);
    const help = await execute("npx", ["--no-install", "waybill", "help", "jobs", "retry"], { cwd: folder });
    expect(help.stdout).to.include("Usage: waybill jobs retry");
  });

  it("has a client that applications compile against, however their modules are resolved", async function () {
    this.timeout(120_000);
    await writeFile(join(folder, "application.mts"), application);
    const target = ["--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--lib", "es2023,dom"];
    const resolved = [
      ["--module", "esnext", "--moduleResolution", "bundler"],
      ["--module", "nodenext"],
    ];
    for (const modules of resolved) {
      const asked = [tsc, ...target, ...modules, "application.mts"];
      const compiled = await execute(process.execPath, asked, { cwd: folder }).catch((failure) => failure);
      expect(compiled.stdout).to.equal("");
    }
  });

  it("starts on servers of its own, mails, shows the dashboard, and ends in order", async function () {
    this.timeout(120_000);
    await locateOwnBinaries();
    const env = { PATH: process.env["PATH"], DATA_DIR: join(folder, "data"), PORT: "0", WAYBILL_INSTALL: "no" };
    const child = spawn(node, [main, "start"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    atEndOfRun(async () => void child.kill("SIGKILL"));
    let output = "";
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    child.stdout.on("data", (chunk: Buffer) => (printed += chunk));
    const url = await eventually(() => {
      const found = /"api":"(\S+?)\/api\/jobs"/.exec(output)?.[1];
      if (found === undefined) throw new Error(`It is not ready: ${output}`);
      return found;
    }, 60_000);
    const client = createApiClient(url);
    const id = await client.create({ subject: "Packed", body: "It works.", recipients: ["ada@example.com"] });
    expect((await client.ended(id)).status).to.equal("completed");
    const { stdout } = await execute(node, [join(folder, "application.mjs"), url], { cwd: folder });
    expect(stdout.trim().split("\n")).to.deep.equal([
      ...["completed 2", "3", "3", "3", "1", "404", "Ada <ada@example.com>"],
      ...["ada@example.com success, bob@example.com success", "5", "true JobCreated", "0", "object function", "4"],
    ]);
    for (const path of ["/", "/docs", "/openapi.json"]) {
      const { status } = await fetch(url + path);
      expect(status, path).to.equal(200);
    }
    const readiness = await (await fetch(`${url}/readyz`)).text();
    expect(readiness).to.match(/"durability":"flushed (every 2 minutes|before each answer)"/);
    const exited = once(child, "close");
    child.kill("SIGTERM");
    expect(await exited, output).to.deep.equal([0, null]);
    expect(output).not.to.match(/Warning|"level":50|ERROR/);
    // What reads the log of a process takes it line by line.
    const lines = printed.trimEnd().split("\n");
    expect(lines.map((line) => isJson(line))).to.deep.equal(
      lines.map(() => true),
      printed,
    );
    const ready = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === "waybill is ready");
    expect(ready).to.include({ level: "info", dashboard: `${url}/`, mailbox: `${url}/mailbox` });
    expect(ready).to.include({ health: `${url}/readyz` });
  });
});

type Locked = { readonly dev?: boolean; readonly hasInstallScript?: boolean };

/** By their paths; this project's own path is empty. */
async function lockedPackages(): Promise<readonly (readonly [string, Locked])[]> {
  const { packages } = JSON.parse(await readFile(join(checkout, "package-lock.json"), "utf8"));
  return Object.entries(packages as Record<string, Locked>);
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}
