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

  it("is not waited for longer than a command may take, as where a quota is used up until midnight", async () => {
    const told: string[] = [];
    const quota = createServer((_, response) => {
      response.writeHead(429, { "Content-Type": "application/problem+json", "Retry-After": "36000" });
      response.end('{"code": "quota-exceeded", "detail": "There are 17 recipients, and 0 of 10 are left."}');
    }).listen(0, "127.0.0.1");
    await once(quota, "listening");
    const url = `http://127.0.0.1:${(quota.address() as AddressInfo).port}`;
    const service = createService({ url, key: null }, AbortSignal.timeout(1000));
    const asking = service.askPatiently("/api/mailings/x/start", { method: "POST" }, (reason) => told.push(reason));
    expect(await failureOf(asking))
      .to.be.instanceOf(ServiceRefused)
      .and.include({ code: "quota-exceeded" });
    expect(told).to.deep.equal([]);
    quota.closeAllConnections();
    quota.close();
  });
});
