import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { demonstrate } from "../../src/cli/demo.ts";
import { eventually } from "../support/eventually.ts";

describe("The demo", () => {
  let server: Server;
  const keys: unknown[] = [];

  before(async () => {
    server = createServer((request, response) => {
      request.resume();
      keys.push(request.headers["idempotency-key"]);
      const isFirst = keys.length === 1;
      response.writeHead(isFirst ? 503 : 201, { "Content-Type": "application/json", Connection: "close" });
      response.end(JSON.stringify(isFirst ? { detail: "NATS did not answer." } : { jobId: "a-job" }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());

  it("repeats a request that a service which has just started does not answer in time", async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const interrupting = new AbortController();
    const told: string[] = [];
    const context = { tell: (line: string) => void told.push(line), interrupted: interrupting.signal };
    const running = demonstrate(context, { url, key: null });
    await eventually(() => expect(told).to.deep.equal([`\nA demo mailing is on its way: ${url}/#/jobs/a-job`]));
    expect(keys).to.deep.equal(["waybill-demo", "waybill-demo"]);
    interrupting.abort();
    await running;
  });
});
