import { execFile } from "node:child_process";
import { expect } from "chai";

const logger = new URL("../../src/process/logger.ts", import.meta.url).href;

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
});
