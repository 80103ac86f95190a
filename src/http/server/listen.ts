import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type Koa from "koa";
import { problemType, refuse } from "./answer.ts";

export type Listening = {
  readonly url: string;
  /** Answers with another application from the next request on. */
  serve(app: Koa): void;
  /** Takes no more connections, finishes the requests that are being answered, and returns when all are closed; again is harmless. */
  close(): Promise<void>;
};

/** Long enough for any honest client, short enough that dawdling ones cannot take up every connection. */
const usualLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** Longer than load balancers keep theirs, so that none sends a request into a connection that is being closed. */
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

/** For the answer to a broken request to reach its client. */
const goodbyeMs = 500;

/** Listens on a host and port; port 0 takes a free one. Throws what the system says where it cannot. */
export async function listen(app: Koa, host: string, port: number, limits = usualLimits): Promise<Listening> {
  const server = createServer(limits);
  server.maxHeadersCount = 100;
  const sockets = new Set<Socket>();
  const open = new Set<ServerResponse>();
  let isClosing = false;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (_request, response: ServerResponse) => {
    open.add(response);
    response.once("close", () => open.delete(response));
    if (isClosing) response.setHeader("Connection", "close");
  });
  let handle = app.callback();
  // Koa answers for every failure itself: what it returns is never rejected.
  server.on("request", (request, response) => void handle(request, response));
  server.on("clientError", answerBrokenRequest);
  server.listen(port, host);
  await once(server, "listening");
  const close = async (): Promise<void> => {
    isClosing = true;
    // Else the connection would be kept for the next request after this answer.
    for (const response of open) if (!response.headersSent) response.setHeader("Connection", "close");
    const closed = once(server, "close");
    server.close();
    // The platform hangs up on connections between two requests, and waits for those that never began one.
    const busy = new Set([...open].map(({ req }) => req.socket));
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
    await closed;
  };
  let closing: Promise<void> | null = null;
  return {
    url: urlOf(server, host),
    serve: (next) => {
      handle = next.callback();
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const isAnywhere = host === "0.0.0.0" || host === "::";
  const name = isAnywhere ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** Requests that are no HTTP, or never finish, do not get as far as the application. */
function answerBrokenRequest(failure: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || failure.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, body } = problemOf(failure.code);
  const text = JSON.stringify({ ...(body as object), requestId: randomUUID() });
  const head = [
    `HTTP/1.1 ${status} -`,
    `Content-Type: ${problemType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
  // A client that neither goes on nor hangs up would be waited for without end, and its request with it.
  setTimeout(() => socket.destroy(), goodbyeMs).unref();
}

function problemOf(code: string | undefined) {
  if (code === "HPE_HEADER_OVERFLOW") return refuse("headers-too-large", "The headers are larger than 16 KiB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return refuse("request-timeout", "The request did not arrive in time.");
  return refuse("invalid-request", "The request is not HTTP/1.1.");
}
