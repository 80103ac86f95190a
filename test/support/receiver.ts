import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

type Answer = (response: ServerResponse, received: Received) => void;

/** A receiver of webhooks, on a real port of this machine. */
export type Receiver = {
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** From here on; 204 where nothing was said. */
  answers(answer: Answer): void;
  stop(): Promise<void>;
};

export const withStatus =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end();

export async function startReceiver(host = "127.0.0.1", port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let answer: Answer = withStatus(204);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, text: Buffer.concat(chunks).toString() };
      received.push(one);
      answer(response, one);
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    port: address.port,
    received,
    answers: (given) => {
      answer = given;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** As a receiver does it that knows Standard Webhooks and nothing of us. */
export function isSignedBy(secret: string, { headers, text }: Received): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = [headers["webhook-id"], headers["webhook-timestamp"], text].join(".");
  const expected = createHmac("sha256", key).update(signed, "utf8").digest();
  return String(headers["webhook-signature"])
    .split(" ")
    .map((signature) => signature.split(","))
    .some(([version, base64 = ""]) => {
      const given = Buffer.from(base64, "base64");
      return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
    });
}
