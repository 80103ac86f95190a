import { execFile } from "node:child_process";
import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const packageFile = fileURLToPath(new URL("../../package.json", import.meta.url));

describe("npm start", () => {
  let folder: string;

  /** A checkout whose build says that it was made. */
  before(async () => {
    folder = await temporaryFolder();
    const { scripts } = JSON.parse(await readFile(packageFile, "utf8"));
    const own = { prestart: scripts.prestart, build: "mkdir -p dist && touch dist/.built && echo built" };
    await writeFile(join(folder, "package.json"), JSON.stringify({ name: "checkout", scripts: own }));
    await writeFile(join(folder, "tsconfig.json"), "{}");
    for (const name of ["src/deep", "projections", "migrations"]) await mkdir(join(folder, name), { recursive: true });
    for (const name of ["src/one.ts", "src/deep/two.ts"]) await writeFile(join(folder, name), "");
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const isBuilt = async (): Promise<boolean> =>
    (await run("npm", ["run", "--silent", "prestart"], { cwd: folder })).stdout.includes("built");
  /** Whatever the clock of the file system can tell apart. */
  const afterTheBuild = new Date(Date.now() + 3_600_000);

  it("builds what was never built, and not again", async () => {
    expect(await isBuilt()).to.equal(true);
    expect(await isBuilt()).to.equal(false);
  });

  it("says that it builds, as that takes some seconds", async () => {
    await rm(join(folder, "dist"), { recursive: true });
    const { stderr } = await run("npm", ["run", "--silent", "prestart"], { cwd: folder });
    expect(stderr).to.match(/^Building Waybill/);
    expect((await run("npm", ["run", "--silent", "prestart"], { cwd: folder })).stderr).to.equal("");
  });

  it("builds again where a file was changed", async () => {
    await utimes(join(folder, "src/deep/two.ts"), afterTheBuild, afterTheBuild);
    expect(await isBuilt()).to.equal(true);
    await writeFile(join(folder, "src/deep/two.ts"), "");
    await utimes(join(folder, "src/deep/two.ts"), new Date(0), new Date(0));
    expect(await isBuilt()).to.equal(false);
  });

  it("builds again where a file was taken out", async () => {
    await rm(join(folder, "src/deep/two.ts"));
    await utimes(join(folder, "src/deep"), afterTheBuild, afterTheBuild);
    expect(await isBuilt()).to.equal(true);
  });
});
