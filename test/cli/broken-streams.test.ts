import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { runCommandLine } from "../../src/cli/run-command-line.ts";
import { readConfig } from "../../src/settings/config.ts";
import { quietProcess } from "../support/cli.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const ndjson = { "Content-Type": "application/x-ndjson" };
const lineOf = (sequence: number): string => `${JSON.stringify({ sequence, index: 0, type: "JobCreated" })}\n`;

const refuse = (response: ServerResponse): void => {
  response.writeHead(503, { "Content-Type": "application/problem+json", "Retry-After": "0" });
  response.end(JSON.stringify({ status: 503, code: "no-stream-left", detail: "This instance is about to stop." }));
};

describe("A command that reads a stream which breaks", () => {
  let server: Server;
  let url: string;
  let handle: Handle;
  let asked: string[];

  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? "");
      handle(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    asked = [];
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Interrupted once so many lines are printed. */
  const run = async (args: readonly string[], lines = Number.POSITIVE_INFINITY) => {
    const interrupted = new AbortController();
    const printed: string[] = [];
    const told: string[] = [];
    const code = await runCommandLine(args, {
      ...quietProcess,
      interrupted: interrupted.signal,
      readConfig: (overrides = {}) => readConfig({ WAYBILL_URL: url, ...overrides }),
      print: (line) => {
        if (printed.push(line) === lines) interrupted.abort();
      },
      tell: (line) => told.push(line),
    });
    return { code, printed, told };
  };

  it("fails where it prints the history up to its end", async () => {
    handle = (_, response) => {
      response.writeHead(200, ndjson);
      response.write(lineOf(1), () => response.destroy());
    };
    const cut = `The answer of ${url} was cut off.`;
    expect(await run(["events"])).to.deep.equal({ code: 1, printed: [lineOf(1).trimEnd()], told: [cut] });
  });

  it("goes on after the last event that it printed where it follows the log, be it broken, ended or refused", async () => {
    const answers: Handle[] = [
      (_, response) => {
        response.writeHead(200, ndjson);
        response.write(lineOf(1), () => response.destroy());
      },
      (_, response) => refuse(response),
      (_, response) => response.writeHead(200, ndjson).end(lineOf(2)),
      (_, response) => response.writeHead(200, ndjson).write(lineOf(3)),
    ];
    handle = (request, response) => answers.shift()?.(request, response);
    const { code, printed, told } = await run(["events", "--follow"], 3);
    expect(code).to.equal(0);
    expect(printed.map((line) => JSON.parse(line).sequence)).to.deep.equal([1, 2, 3]);
    expect(asked.map((path) => new URL(path, url).searchParams.get("after"))).to.deep.equal(["0", "1.0", "1.0", "2.0"]);
    expect(told).to.deep.equal([
      `The answer of ${url} was cut off. Retrying.`,
      "This instance is about to stop. Retrying.",
    ]);
  });

  it("fails at once where it would follow a log that no one serves", async () => {
    handle = (_, response) => refuse(response);
    expect((await run(["events", "--follow"])).code).to.equal(1);
    expect(asked).to.have.length(1);
  });

  for (const args of [["events"], ["suppressions", "export"], ["jobs", "evidence", "x"]]) {
    it(`ends as interrupted where Ctrl-C cuts its output short: ${args.join(" ")}`, async () => {
      handle = (_, response) => response.writeHead(200, ndjson).write(lineOf(1));
      const { code, told } = await run(args, 1);
      expect([code, told]).to.deep.equal([130, ["Interrupted."]]);
    });
  }

  it("watches on where another instance refuses the next stream, and asks no more than it must", async () => {
    const job = { id: "x", status: "processing", completedAt: null as string | null, attempt: 1, maxAttempts: 4 };
    const progress = { total: 1, pending: 0, deferred: 0, sent: 1 };
    const answerOf = (completedAt: string | null) =>
      JSON.stringify({ ...job, progress, status: completedAt === null ? "processing" : "completed", completedAt });
    let streams = 0;
    handle = ({ url: path }, response) => {
      if (!path?.endsWith("/stream")) {
        response.writeHead(200, { "Content-Type": "application/json" }).end(answerOf(null));
        return;
      }
      streams += 1;
      if (streams === 2) return refuse(response);
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.end(`event: status\nid: 1\ndata: ${answerOf(streams === 1 ? null : "2030-01-01T00:00:00.000Z")}\n\n`);
    };
    const { code } = await run(["jobs", "watch", "x", "--json"]);
    expect(code).to.equal(0);
    const [stream, state] = ["/api/jobs/x/stream", "/api/jobs/x"];
    expect(asked).to.deep.equal([stream, state, stream, state, stream]);
  });
});
