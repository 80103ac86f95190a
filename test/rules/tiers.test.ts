import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);

/** The files that a command runs, as Mocha gets them. */
async function filesOf(tier: string): Promise<readonly string[]> {
  const script = "JSON.stringify(require('./test/tiers.cjs').spec)";
  const env = { ...process.env, TEST_TIER: tier };
  return JSON.parse((await run(process.execPath, ["-p", script], { env })).stdout);
}

const testFilesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `${folder}/${name}`);

describe("the tiers of the tests", () => {
  let unit: readonly string[];
  let usual: readonly string[];
  let all: readonly string[];

  before(async () => {
    [unit = [], usual = [], all = []] = await Promise.all(["unit", "usual", "all"].map(filesOf));
  });

  it("together run every test file, each once", async () => {
    expect(all).to.have.members(await testFilesIn("test"));
  });

  it("are each a part of the next", () => {
    expect(usual).to.include.members([...unit]);
    expect(all).to.include.members([...usual]);
  });

  it("have everything among the unit tests that is pure", async () => {
    const pure = await Promise.all(["test/domain", "test/schemas", "test/history"].map(testFilesIn));
    expect(unit).to.include.members(pure.flat());
  });

  it("have nothing among the unit tests that starts a server, directly or through what it imports", () => {
    expect(unit).not.to.include.oneOf([
      "test/support/services.test.ts",
      "test/http/list-jobs.test.ts",
      "test/workers/mailing.test.ts",
    ]);
  });

  it("have nothing among the usual tests that drives a browser, and what of a page needs none", () => {
    expect(usual).not.to.include.oneOf(["test/dashboard/jobs.test.ts", "test/http/api-reference.test.ts"]);
    expect(usual).to.include("test/dashboard/reading/words.test.ts");
  });

  it("are named rightly, or the run does not begin", async () => {
    const refused = await filesOf("fast").catch((failure: Error) => failure.message);
    expect(refused).to.include('TEST_TIER is "fast"; expected unit, usual, all');
  });
});
