import { expect } from "chai";
import { demonstrate } from "../../src/cli/demo.ts";
import { eventually } from "../support/eventually.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

describe("The demo", () => {
  let service: Receiver;

  before(async () => {
    service = await startReceiver();
    service.answers((response) => {
      const isFirst = service.received.length === 1;
      response.writeHead(isFirst ? 503 : 201, { "Content-Type": "application/json" });
      response.end(JSON.stringify(isFirst ? { detail: "NATS did not answer." } : { jobId: "a-job" }));
    });
  });
  after(() => service.stop());

  it("repeats a request that a service which has just started does not answer in time", async () => {
    const { url } = service;
    const interrupting = new AbortController();
    const told: string[] = [];
    const context = { tell: (line: string) => void told.push(line), interrupted: interrupting.signal };
    const running = demonstrate(context, { url, key: null });
    await eventually(() => expect(told).to.deep.equal([`\nA demo mailing is on its way: ${url}/#/jobs/a-job`]));
    const keys = service.received.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).to.deep.equal(["waybill-demo", "waybill-demo"]);
    interrupting.abort();
    await running;
  });
});
