import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

/** The way from one server of a cluster to another leads through a proxy of its own. */
type Way = { readonly from: string; readonly to: string; readonly proxy: TcpProxy };

/** As a server sees it whose routes work in one direction only. */
export type OneWay = "what it says" | "what it hears";

export type Routes = {
  /** Where a server finds the others. */
  urlsFrom(name: string): readonly string[];
  /** Where a server listens for the others; it is known once it has started. */
  listensOn(name: string, port: number): void;
  /** Breaks what a server has with the others, in both directions, and lets nothing new begin. */
  cutOff(name: string): Promise<void>;
  /** Holds back what a server says to the others and what they say to it, without breaking a connection. */
  stall(name: string): void;
  /** Holds back what a server says to the others, which it still hears, or what they say to it, while they hear it. */
  stallOneWay(name: string, held: OneWay): void;
  /** The same as `stall` between two servers alone, each of which still has the third. */
  stallBetween(one: string, other: string): void;
  /** Ends a cut or a stall; what was held back arrives now. */
  restore(name: string): Promise<void>;
  stop(): Promise<void>;
};

export async function startRoutes(names: readonly string[]): Promise<Routes> {
  // The proxies look at it anew with every connection, as the servers choose their ports when they start.
  const targets = new Map(names.map((name) => [name, { host: "127.0.0.1", port: 1 }]));
  const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => ({ from, to })));
  const ways = await Promise.all(
    pairs.map(async ({ from, to }): Promise<Way> => {
      const target = targets.get(to) ?? { host: "127.0.0.1", port: 1 };
      return { from, to, proxy: await startTcpProxy(target) };
    }),
  );
  const waysOf = (name: string): readonly TcpProxy[] =>
    ways.filter(({ from, to }) => from === name || to === name).map(({ proxy }) => proxy);
  const each = async (name: string, act: (proxy: TcpProxy) => Promise<void>): Promise<void> => {
    await Promise.all(waysOf(name).map(act));
  };
  return {
    urlsFrom: (name) =>
      ways.filter(({ from }) => from === name).map(({ proxy }) => `nats-route://127.0.0.1:${proxy.port}`),
    listensOn: (name, port) => {
      const target = targets.get(name);
      if (target !== undefined) target.port = port;
    },
    cutOff: (name) => each(name, (proxy) => proxy.cut()),
    stall: (name) => {
      for (const proxy of waysOf(name)) proxy.stall();
    },
    stallOneWay: (name, held) => {
      const isHeldAtOpener = held === "what it says";
      for (const { from, to, proxy } of ways) {
        // Both nodes talk over a connection, whichever of them has opened it.
        if (from === name) proxy.stallOneWay(isHeldAtOpener ? "toUpstream" : "toClient");
        if (to === name) proxy.stallOneWay(isHeldAtOpener ? "toClient" : "toUpstream");
      }
    },
    stallBetween: (one, other) => {
      for (const { from, to, proxy } of ways)
        if ([one, other].includes(from) && [one, other].includes(to)) proxy.stall();
    },
    restore: (name) => each(name, (proxy) => proxy.restore()),
    stop: async () => {
      await Promise.all(ways.map(({ proxy }) => proxy.stop()));
    },
  };
}
