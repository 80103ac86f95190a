import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { build } from "esbuild";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);

const program = `
import { nameSourcesInStackTraces } from ${JSON.stringify(fileURLToPath(new URL("../../src/process/stack-traces.ts", import.meta.url)))};

type Answer = { readonly stack: string };

class Broken extends Error {
  override readonly name = "Broken";
}

function fail(): never {
  throw new Broken("on purpose");
}

const stackOf = (act: () => void): Answer => {
  try {
    act();
  } catch (failure) {
    return { stack: (failure as Error).stack ?? "" };
  }
  return { stack: "" };
};

nameSourcesInStackTraces();
console.log(stackOf(fail).stack);
`;

describe("The stack traces of a built program", () => {
  let folder: string;
  before(async () => {
    folder = await temporaryFolder();
    await writeFile(join(folder, "program.ts"), program);
    const entryPoints = [join(folder, "program.ts")];
    const how = { bundle: true, format: "esm", platform: "node", sourcemap: true, sourcesContent: false } as const;
    await build({ ...how, entryPoints, outfile: join(folder, "dist/program.js") });
  });

  after(() => rm(folder, { recursive: true, force: true }));

  const traceOf = async (): Promise<readonly string[]> =>
    (await run(process.execPath, [join(folder, "dist/program.js")])).stdout.split("\n");

  it("begin with the error, and name the lines of the sources", async () => {
    const [first, at, by, from] = await traceOf();
    expect(first).to.equal("Broken: on purpose");
    expect(at?.trim()).to.equal(`at fail (${join(folder, "program.ts")}:11:9)`);
    expect(by?.trim()).to.equal(`at stackOf (${join(folder, "program.ts")}:16:5)`);
    expect(from).to.include(`${join(folder, "program.ts")}:24:`);
  });

  it("name those of the build where a map is not there", async () => {
    await rm(join(folder, "dist/program.js.map"));
    const [first, at] = await traceOf();
    expect(first).to.equal("Broken: on purpose");
    expect(at).to.include("dist/program.js:");
  });
});
