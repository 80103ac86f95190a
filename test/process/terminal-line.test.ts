import { expect } from "chai";
import { paintFor, toTerminalLine } from "../../src/process/terminal-line.ts";

const plain = paintFor(false);
const time = "2026-11-21T09:30:00.123Z";

/** The line without its time, which is that of the local zone. */
const lineOf = (fields: Readonly<Record<string, unknown>>, withStack = false): string =>
  toTerminalLine(JSON.stringify({ level: "info", time, process: "p-1", ...fields }), plain, withStack).replace(
    /^\d\d:\d\d:00\.123 /,
    "",
  );

describe("An entry of the log on a terminal", () => {
  it("is one line with the level, the message and the fields", () => {
    expect(lineOf({ jobId: "0193", rows: 3, why: "two words", msg: "expired jobs erased" })).to.equal(
      'INFO  expired jobs erased  jobId=0193  rows=3  why="two words"\n',
    );
  });

  it("says of a request what was asked, with its real path, and what was answered", () => {
    const request = { requestId: "r-1", traceId: "t-1", tenant: "acme", method: "GET", route: "/api/jobs/:jobId" };
    expect(lineOf({ ...request, path: "/api/jobs/0193", status: 404, ms: 3, msg: "request" })).to.equal(
      "INFO  GET /api/jobs/0193 404 3 ms  requestId=r-1  tenant=acme\n",
    );
  });

  it("says of a step of a job which one, and why it failed", () => {
    const step = { jobId: "0193", tenant: "acme", event: "JobFailed", run: 1, attempt: 4, msg: "recorded" };
    expect(lineOf({ ...step, reason: "smtp-refused: 554 no" })).to.equal(
      'INFO  JobFailed  jobId=0193  tenant=acme  run=1  attempt=4  reason="smtp-refused: 554 no"\n',
    );
  });

  it("stays one line for an error, with the messages of its causes", () => {
    const err = { type: "Error", message: "no\nanswer", stack: "Error: no\n    at one\n    at two", code: "ETIME" };
    const cause = { message: "reset", code: "ECONNRESET" };
    expect(lineOf({ err: { ...err, cause }, msg: "retrying" })).to.equal(
      'INFO  retrying  error="no\\nanswer, ETIME: reset, ECONNRESET"\n',
    );
    expect(lineOf({ err, msg: "retrying" }, true).split("\n").slice(1)).to.deep.equal(["    at one", "    at two", ""]);
  });

  it("controls no terminal, whatever stands in it", () => {
    const line = lineOf({ path: "/\u001b[2J", note: "\u009b2J\u0007", msg: "a\u001b[31m\nb" });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
    expect(line.slice(0, -1)).not.to.match(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it("has colours only where they are wanted", () => {
    const entry = JSON.stringify({ level: "error", time, msg: "away" });
    expect(toTerminalLine(entry, paintFor(true))).to.include("\u001b[31mERROR\u001b[39m");
    expect(toTerminalLine(entry, plain)).not.to.include("\u001b");
  });
});
