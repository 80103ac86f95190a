import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export type TcpProxy = {
  readonly port: number;
  /** Breaks every connection and takes no new ones, as if the server had died. */
  cut(): Promise<void>;
  /** Keeps connections open, and takes new ones, but passes nothing on: a network that swallows packets. */
  stall(): void;
  /** Passes on what clients say and drops what they are answered, until their connections are cut. */
  loseAnswers(): void;
  /** Ends a cut or a stall; what was held back in a stall is passed on. */
  restore(): Promise<void>;
  stop(): Promise<void>;
};

/** A door in front of a server, on a loopback port of its own, that can be shut to see what happens. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let isStalled = false;
  const accept = (client: Socket): void => {
    const pair = join(client, connect(target));
    pairs.add(pair);
    if (isStalled) hold(pair);
    client.once("close", () => pairs.delete(pair));
  };
  const breakAll = (): void => {
    for (const { client } of pairs) client.destroy();
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
  return {
    port,
    cut: shut,
    stall: () => {
      isStalled = true;
      for (const pair of pairs) hold(pair);
    },
    loseAnswers: () => {
      for (const { client, upstream } of pairs) upstream.unpipe(client).resume();
    },
    restore: async () => {
      isStalled = false;
      for (const pair of pairs) pass(pair);
      if (!server.listening) server = await listen(accept, port);
    },
    stop: shut,
  };
}

type Pair = { readonly client: Socket; readonly upstream: Socket };

function join(client: Socket, upstream: Socket): Pair {
  const [one, other] = [client, upstream];
  for (const [from, to] of [[one, other] as const, [other, one] as const]) {
    from.setNoDelay(true);
    from.pipe(to);
    // A connection that breaks on one side breaks on the other: that is all there is to say about it.
    from.on("error", () => to.destroy());
    from.once("close", () => to.destroy());
  }
  return { client, upstream };
}

function hold({ client, upstream }: Pair): void {
  client.unpipe(upstream).pause();
  upstream.unpipe(client).pause();
}

function pass({ client, upstream }: Pair): void {
  // A pair that was never held is piped already, and a second pipe would pass everything on twice.
  client.unpipe(upstream).pipe(upstream);
  upstream.unpipe(client).pipe(client);
}

async function listen(accept: (client: Socket) => void, port: number): Promise<Server> {
  const server = createServer(accept).listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
