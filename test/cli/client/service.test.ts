import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createService, ServiceRefused } from "../../../src/cli/client/service.ts";
import { failureOf } from "../../support/failure-of.ts";

describe("A service that commands ask", () => {
  it("is not followed elsewhere: what a GET answers there would pass for what the command did", async () => {
    const asked: string[] = [];
    const proxy = createServer(({ method }, response) => {
      asked.push(String(method));
      if (method === "GET") response.end('{"data": []}');
      else response.writeHead(301, { Location: "/api/jobs" }).end("<p>Moved</p>");
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const service = createService({ url, key: null }, new AbortController().signal);
    const asking = service.askPatiently("/api/jobs", { method: "POST", body: {} }, () => {});
    expect(await failureOf(asking))
      .to.be.instanceOf(ServiceRefused)
      .and.include({ status: 301 });
    expect((await failureOf(asking)).message).to.include(`${url} leads on to /api/jobs`);
    expect(asked).to.deep.equal(["POST"]);
    proxy.closeAllConnections();
    proxy.close();
  });
});
