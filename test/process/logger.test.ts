import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryFolder } from "../support/temporary-folder.ts";

const logger = new URL("../../src/process/logger.ts", import.meta.url).href;
const lastResort = new URL("../../src/cli/last-resort.ts", import.meta.url).href;

/** The lines on the standard output of a process that runs this program with a logger. */
const linesOf = (program: string): Promise<string[]> =>
  new Promise((resolve) => {
    const code = `import { createLogger } from ${JSON.stringify(logger)}; const logger = createLogger("info", "json", "test"); ${program}`;
    execFile(process.execPath, ["--import", "tsx", "--input-type", "module", "--eval", code], (_, output) => {
      resolve(
        output
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line).msg),
      );
    });
  });

describe("the lines of the log", () => {
  it("are written in order, those of a few milliseconds together", async () => {
    const program = 'logger.info("one"); logger.info("two"); setTimeout(() => logger.info("three"), 5);';
    expect(await linesOf(program)).to.deep.equal(["one", "two", "three"]);
  });

  it("are all there where the process exits or fails in the same turn", async () => {
    const [exited, failed] = await Promise.all([
      linesOf('logger.info("one"); logger.info("two"); process.exit(1);'),
      linesOf('logger.info("one"); logger.error("two"); throw new Error("three");'),
    ]);
    expect(exited).to.deep.equal(["one", "two"]);
    expect(failed).to.deep.equal(["one", "two"]);
  });

  for (const form of ["json", "plain"]) {
    it(`are lost while the disk is full, written again afterwards, and no line keeps or ends the process (${form})`, async () => {
      const folder = await temporaryFolder();
      const file = join(folder, "service.log");
      const fd = form === "json" ? 1 : 2;
      // The lowest free descriptor is the one that was closed.
      const code = `
        import { closeSync, openSync } from "node:fs";
        import { createLogger } from ${JSON.stringify(logger)};
        import { installLastResort } from ${JSON.stringify(lastResort)};
        const logger = createLogger("info", ${JSON.stringify(form)}, "test");
        installLastResort(logger, 200).addEventListener("abort", () => setInterval(() => {}, 1000));
        const log = async (line) => {
          logger.info(line);
          await new Promise((resolve) => setTimeout(resolve, 30));
        };
        for (const line of ["one", "two", "three"]) await log(line);
        closeSync(${fd});
        openSync(${JSON.stringify(file)}, "w");
        for (const line of ["four", "five"]) await log(line);
        closeSync(${fd});
        openSync("/dev/full", "w");
        process.on("exit", () => { throw new Error("at the end") });
        await log("six");
        throw new Error("at the end");`;
      const full = await open("/dev/full", "w");
      const stdio = ["ignore", ...[1, 2].map((one) => (one === fd ? full.fd : "ignore"))] as const;
      const args = ["--import", "tsx", "--input-type", "module", "--eval", code];
      const child = spawn(process.execPath, args, { stdio: [...stdio], timeout: 60_000, killSignal: "SIGKILL" });
      const [exitCode] = await once(child, "exit");
      await full.close();
      expect(exitCode).to.equal(1);
      const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
      await rm(folder, { recursive: true });
      expect(lines.map((line) => /\b(one|two|three|four|five|six)\b/.exec(line)?.[0])).to.deep.equal([
        "one",
        "four",
        "five",
      ]);
    });
  }
});
