import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type Koa from "koa";
import { problemType, refuse } from "./answer.ts";

export type Listening = {
  readonly url: string;
  /** Answers with another application from the next request on. */
  serve(app: Koa): void;
  /**
   * Accepts no more connections, finishes the requests in progress for up to `graceMs`, then breaks them off, and returns
   * when all are closed; may be called twice.
   */
  close(graceMs?: number): Promise<void>;
};

/** Long enough for any honest client, short enough that slow ones cannot take up every connection. */
const usualLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** Longer than load balancers keep idle connections, so that none sends a request into a connection that is closing. */
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT";
}

const timeLimits = new WeakMap<IncomingMessage, () => void>();

/** From now on the request may take as long as it goes on arriving. */
export const liftTimeLimit = (request: IncomingMessage): void => timeLimits.get(request)?.();

const usualGraceMs = 5000;
/** Time for the answer to a broken request to reach its client. */
const goodbyeMs = 500;

/**
 * How many may wait for the end of one response. An answer that is streamed has some ten, of which Node's `pipeline` adds
 * most; with its usual limit Node calls that a leak, in a line on standard error.
 */
const mostListeners = 20;

/** Listens on a host and port; port 0 takes a free one. Throws the error of the system where it cannot. */
export async function listen(app: Koa, host: string, port: number, limits = usualLimits): Promise<Listening> {
  const { requestTimeout, ...others } = limits;
  // Node knows one time for all requests. This one ends for a request that may take longer.
  const server = createServer({ ...others, requestTimeout: 0 });
  server.maxHeadersCount = 100;
  const sockets = new Set<Socket>();
  const open = new Set<ServerResponse>();
  let isClosing = false;
  server.on("request", (request, response: ServerResponse) => {
    response.setMaxListeners(mostListeners);
    const timer = setTimeout(() => {
      if (!request.complete) server.emit("clientError", new RequestTimeout(), request.socket);
    }, requestTimeout).unref();
    const stop = (): void => clearTimeout(timer);
    timeLimits.set(request, stop);
    response.once("close", stop);
  });
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
  // Koa answers every failure itself: the promise that it returns never rejects.
  server.on("request", (request, response) => void handle(request, response));
  // What else a client may expect is nothing that RFC 9110 names. Node would answer it without a word.
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response));
  server.on("clientError", answerBrokenRequest);
  server.listen(port, host);
  await once(server, "listening");
  const close = async (graceMs: number): Promise<void> => {
    isClosing = true;
    // Otherwise the server would keep the connection open for a next request after this answer.
    for (const response of open) if (!response.headersSent) response.setHeader("Connection", "close");
    const closed = once(server, "close");
    server.close();
    // Node closes connections that are idle between two requests, and waits for those that never sent one.
    const busy = new Set([...open].map(({ req }) => req.socket));
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
    const giveUp = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(giveUp);
  };
  let closing: Promise<void> | null = null;
  return {
    url: urlOf(server, host),
    serve: (next) => {
      handle = next.callback();
    },
    close: (graceMs = usualGraceMs) => {
      closing ??= close(graceMs);
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

/** Requests that are not HTTP, or that never finish, do not reach the application. */
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
  // Otherwise a client that neither continues nor hangs up would keep the server, and its request, waiting for ever.
  setTimeout(() => socket.destroy(), goodbyeMs).unref();
}

function problemOf(code: string | undefined) {
  if (code === "HPE_HEADER_OVERFLOW") return refuse("headers-too-large", "The headers are larger than 16 KiB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return refuse("request-timeout", "The request did not arrive in time.");
  return refuse("invalid-request", "The request is not HTTP/1.1.");
}
