import { answerOrders } from "../answer-orders.ts";
import { percentile } from "../statistics.ts";
import { openHttpConnection } from "./http-connection.ts";

export type HttpLoadOrder = {
  readonly port: number;
  readonly method: "GET" | "POST";
  /** Asked in turn, again and again. */
  readonly paths: readonly string[];
  readonly body: string | null;
  readonly requests: number;
  /** A server that is too slow for so many requests in this time is asked fewer. */
  readonly atMostMs: number;
  readonly connections: number;
  readonly expectedStatus: number;
};

export type HttpLoadResult = {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
};

/** As many clients as connections, each asks again as soon as it was answered. */
answerOrders<HttpLoadOrder, HttpLoadResult>(async (order) => {
  const requests = order.paths.map((path) => toRequest(order, path));
  const connections = await Promise.all(
    Array.from({ length: order.connections }, () => openHttpConnection(order.port)),
  );
  const latencies: number[] = [];
  let begun = 0;
  const startedAt = performance.now();
  const mayGoOn = (): boolean => begun < order.requests && performance.now() - startedAt < order.atMostMs;
  await Promise.all(
    connections.map(async ({ send }) => {
      while (mayGoOn()) {
        const request = requests[begun % requests.length] as Buffer;
        begun += 1;
        const sentAt = performance.now();
        const status = await send(request);
        latencies.push(performance.now() - sentAt);
        if (status !== order.expectedStatus) throw new Error(`${order.method} was answered ${status}`);
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  for (const { close } of connections) close();
  return {
    requests: latencies.length,
    perSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    longestMs: percentile(latencies, 100),
  };
});

function toRequest({ method, port, body }: HttpLoadOrder, path: string): Buffer {
  const aboutBody =
    body === null ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${aboutBody}\r\n${body ?? ""}`);
}
