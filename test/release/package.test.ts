import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, symlink } from "node:fs/promises";
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
const checkout = fileURLToPath(new URL("../../", import.meta.url));
/** Another release of Node than the one that runs the tests. */
const node = process.env["TEST_NODE"] ?? process.execPath;

/** What is shipped without anything in the code naming it. */
const needed = [
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
  "dist/src/main.js",
  "dist/src/main.js.map",
  "dist/src/run-projector-thread.js",
  "dist/src/dashboard/app/main.js",
  "dist/src/dashboard/app/main.css",
  "dist/src/licences/typebox/license",
  "dist/src/dashboard/licences/preact/LICENSE",
  "dist/src/dashboard/licences/@preact/signals/LICENSE",
  "dist/src/dashboard/licences/@preact/signals-core/LICENSE",
  "dist/src/dashboard/licences/uplot/LICENSE",
  "dist/src/api-reference/app/swagger-ui-bundle.js",
  "dist/src/api-reference/app/LICENSE",
];
const shipped =
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|ops\/guides\/.+\.md|src\/(?:archive|seals)\/README\.md|src\/dashboard\/screenshots\/.+\.png|dist\/src\/.+)$/;
const kinds = /(\.js|\.js\.map|\.css|\.txt|\/license|\/LICENSE|\/NOTICE)$/;

describe("The package, as npm packs it", () => {
  let folder: string;
  let files: readonly string[];
  let main: string;

  before(async function () {
    this.timeout(120_000);
    folder = await temporaryFolder();
    const { stdout } = await execute("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
      cwd: checkout,
      maxBuffer: 64 * 1024 * 1024,
    });
    const [packed] = JSON.parse(stdout) as [{ filename: string; files: readonly { path: string }[] }];
    files = packed.files.map(({ path }) => path);
    main = await install(join(folder, packed.filename));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** As npm would, but from what is installed already: nothing is fetched, and nothing for development is in reach. */
  async function install(tarball: string): Promise<string> {
    const modules = join(folder, "node_modules");
    const own = join(modules, "waybill");
    await mkdir(own, { recursive: true });
    await execute("tar", ["-xzf", tarball, "--strip-components=1", "-C", own]);
    const list = ["ls", "--omit=dev", "--all", "--parseable"];
    const { stdout } = await execute("npm", list, { cwd: checkout, maxBuffer: 64 * 1024 * 1024 });
    for (const path of stdout.split("\n")) {
      const [, name = "", nested] = path.split("/node_modules/");
      if (name === "" || nested !== undefined) continue;
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(path, join(modules, name));
    }
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
    for (const path of needed.filter((name) => name.toUpperCase().endsWith("LICENSE"))) {
      expect((await readFile(join(folder, "node_modules/waybill", path), "utf8")).length, path).to.be.above(500);
    }
  });

  it("runs no script when it is installed, nor does anything that it depends on", async () => {
    const { scripts = {} } = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
    expect(Object.keys(scripts)).not.to.include.members(["preinstall", "install", "postinstall", "prepare"]);
    const { packages } = JSON.parse(await readFile(join(checkout, "package-lock.json"), "utf8"));
    type Locked = readonly [string, { readonly dev?: boolean; readonly hasInstallScript?: boolean }];
    const withScript = (Object.entries(packages) as Locked[]).filter(
      ([, { dev, hasInstallScript }]) => hasInstallScript === true && dev !== true,
    );
    expect(withScript.map(([name]) => name)).to.deep.equal([]);
  });

  it("says what it can do", async () => {
    const { stdout } = await execute(node, [main, "--help"]);
    expect(stdout).to.include("Usage: waybill").and.include("waybill start");
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
    for (const path of ["/", "/docs", "/openapi.json"]) {
      const { status } = await fetch(url + path);
      expect(status, path).to.equal(200);
    }
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

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}
