import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { SlowLine, type Slowness } from "./slow-line.ts";

export type TcpProxy = {
  readonly port: number;
  /** How many clients are connected. */
  connections(): number;
  /** Breaks every connection and takes no new ones, as if the server had died. */
  cut(): Promise<void>;
  /** Keeps connections open, and takes new ones, but passes nothing on: a network that swallows packets. */
  stall(): void;
  /** Holds back only what clients say, or only what the server answers. */
  stallOneWay(line: "toUpstream" | "toClient"): void;
  /** Passes on what clients say and drops what they are answered, until their connections are cut. */
  loseAnswers(): void;
  /** Passes everything on in the end, each direction of each connection no faster than this. */
  slowDown(slowness: Slowness): void;
  /** Passes on at once what clients say, and everything that they are answered so much later. */
  delayAnswers(latencyMs: number): void;
  /** Ends a cut, a stall, slowness or a delay; what was held back is passed on. */
  restore(): Promise<void>;
  stop(): Promise<void>;
};

/** A door in front of a server, on a loopback port of its own, that can be shut to see what happens. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let stalled: Both<boolean> = flowing;
  let slowness: Both<Slowness | null> = fast;
  const accept = (client: Socket): void => {
    const pair = join(client, connect(target), (line) => slowness[line]);
    pairs.add(pair);
    hold(pair, stalled);
    client.once("close", () => pairs.delete(pair));
  };
  const breakAll = (): void => {
    for (const { client, upstream } of pairs) {
      client.destroy();
      upstream.destroy();
    }
  };
  let server = await listen(accept, 0);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const shut = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    breakAll();
    await once(server, "close");
  };
  const stall = (lines: Both<boolean>): void => {
    stalled = lines;
    for (const pair of pairs) hold(pair, lines);
  };
  return {
    port,
    connections: () => pairs.size,
    cut: shut,
    stall: () => stall({ toUpstream: true, toClient: true }),
    stallOneWay: (line) => stall({ ...flowing, [line]: true }),
    loseAnswers: () => {
      for (const { upstream, toClient } of pairs) upstream.unpipe(toClient).resume();
    },
    slowDown: (to) => {
      slowness = { toUpstream: to, toClient: to };
    },
    delayAnswers: (latencyMs) => {
      slowness = { ...fast, toClient: { latencyMs, bytesPerSecond: Number.POSITIVE_INFINITY } };
    },
    restore: async () => {
      stalled = flowing;
      slowness = fast;
      for (const pair of pairs) pass(pair);
      if (!server.listening) server = await listen(accept, port);
    },
    stop: shut,
  };
}

/** The two directions of a connection. */
type Both<Value> = { readonly toUpstream: Value; readonly toClient: Value };

const flowing: Both<boolean> = { toUpstream: false, toClient: false };

const fast: Both<Slowness | null> = { toUpstream: null, toClient: null };

type Pair = Both<SlowLine> & { readonly client: Socket; readonly upstream: Socket };

function join(client: Socket, upstream: Socket, slowness: (line: keyof Both<SlowLine>) => Slowness | null): Pair {
  const pass = (name: keyof Both<SlowLine>, from: Socket, to: Socket): SlowLine => {
    const line = new SlowLine(() => slowness(name));
    from.setNoDelay(true);
    from.pipe(line).pipe(to);
    // A connection that breaks on one side breaks on the other, once what was said before has arrived there.
    from.on("error", () => to.destroy());
    from.once("close", () => {
      if (line.isEmpty()) to.destroy();
      else line.once("end", () => to.destroySoon()).end();
    });
    to.once("close", () => line.destroy());
    return line;
  };
  return {
    client,
    upstream,
    toUpstream: pass("toUpstream", client, upstream),
    toClient: pass("toClient", upstream, client),
  };
}

function hold({ client, upstream, toUpstream, toClient }: Pair, lines: Both<boolean>): void {
  if (lines.toUpstream) client.unpipe(toUpstream).pause();
  if (lines.toClient) upstream.unpipe(toClient).pause();
}

function pass({ client, upstream, toUpstream, toClient }: Pair): void {
  // A pair that was never held is piped already, and a second pipe would pass everything on twice.
  client.unpipe(toUpstream).pipe(toUpstream);
  upstream.unpipe(toClient).pipe(toClient);
}

async function listen(accept: (client: Socket) => void, port: number): Promise<Server> {
  const server = createServer(accept).listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
