import { setTimeout as pause } from "node:timers/promises";
import type { NatsConnection } from "nats";
import type { Judgement } from "./node-judgement.ts";
import { serversOf } from "./server-pool.ts";

const answerMs = 1500;
const askAgainMs = 1000;
const leastRestMs = 250;
const atOnceMs = 500;
/**
 * The client leaves a node whose JetStream has not answered for this long, if another one answers. Counted from the last
 * check, this is still longer than a leader that was cut off can be taken for one with a majority: see node-judgement.ts.
 */
const leaveAfterMs = 4000;
/** If a node answers questions and stores nothing, another node may be no better: the next move waits this long. */
const leaveAgainAfterMs = 60_000;
const lookEveryMs = 30_000;
const checkEveryMs = 1200;

export type NodeWatchSetup = {
  readonly nats: NatsConnection;
  readonly isUp: () => boolean;
  readonly isWorking: Judgement;
  /** The server preference of this process. */
  readonly inOrder: (addresses: readonly string[]) => readonly string[];
  /** Opens a separate connection to one server, to check it. */
  readonly visit: (address: string) => Promise<NatsConnection>;
  /** Reconnects to that server at once. */
  readonly leaveFor: (address: string) => void;
  /** Moves to that server at a moment when the move loses no request. */
  readonly moveTo: (address: string) => Promise<void>;
  readonly notice: (message: string) => void;
  readonly lookEveryMs?: number;
};

export type NodeWatch = {
  /** A JetStream request got no answer. */
  unanswered(): void;
  /** The connection is up again, to whichever server. */
  connected(): void;
  stop(): void;
};

/**
 * Keeps the client on a working server: a frozen server, and one cut off from the others, keeps its connections. The
 * client checks its server about every second, because a process with nothing to do asks nothing that could remain without
 * an answer, and its followers may read from that very server. A client that is not on the first server of its order
 * checks now and then whether that one is available again, so that clients spread out once a server is back. A client
 * with only one server never checks it, and never leaves it.
 */
export function watchNode(setup: NodeWatchSetup): NodeWatch {
  const { nats, isUp, inOrder, isWorking, leaveFor, notice } = setup;
  const stopping = new AbortController();
  let doubtedSince: number | null = null;
  let unansweredAt = Number.NEGATIVE_INFINITY;
  let leftAt = Number.NEGATIVE_INFINITY;
  /** Since when the node works, though requests remain without an answer. */
  let workingSince = Number.POSITIVE_INFINITY;

  const others = (): readonly string[] => inOrder(serversOf(nats)).filter((address) => address !== nats.getServer());
  /** The first of the others to show that it serves. */
  const findOther = (): Promise<string | null> =>
    Promise.any(others().map((address) => expectServing(setup, address))).catch(() => null);
  /**
   * Whether the node works; the search for another one, which takes as long, goes on meanwhile. Where that has found one,
   * an election may have ended a moment ago: then this node, too, answers when it is asked again, and at once.
   */
  const isAnsweringStill = async (finding: Promise<string | null>): Promise<boolean> => {
    const answer = isWorking(nats);
    if (await Promise.race([answer, finding.then((other) => other === null && answer)])) return true;
    return (await finding) !== null && (await Promise.race([isWorking(nats), pause(atOnceMs, false)]));
  };
  /** Whether the server works again, or was left. */
  const settle = async (since: number): Promise<boolean> => {
    const mayLeave = performance.now() - since >= leaveAfterMs;
    const finding = mayLeave ? findOther() : Promise.resolve(null);
    const isAnswering = await isAnsweringStill(finding);
    const now = performance.now();
    workingSince = isAnswering ? Math.min(workingSince, now) : Number.POSITIVE_INFINITY;
    if (isAnswering && now - unansweredAt > 2 * answerMs) return true;
    // The requests of an election that has just ended are no fault of the node.
    if (isAnswering && (now - workingSince < leaveAfterMs || now - leftAt < leaveAgainAfterMs)) return false;
    const other = await finding;
    if (other === null || doubtedSince !== since) return false;
    notice(`JetStream does not answer through ${nats.getServer()}; switching to ${other}.`);
    leftAt = now;
    leaveFor(other);
    return true;
  };
  const doubt = async (since: number): Promise<void> => {
    while (doubtedSince === since && !stopping.signal.aborted && !nats.isClosed()) {
      const askedAt = performance.now();
      if (await settle(since)) {
        if (doubtedSince === since) doubtedSince = null;
        return;
      }
      const restMs = Math.max(leastRestMs, askedAt + askAgainMs - performance.now());
      await pause(restMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  };
  const beginDoubt = (since: number): void => {
    if (doubtedSince !== null || nats.isClosed() || stopping.signal.aborted) return;
    doubtedSince = since;
    workingSince = Number.POSITIVE_INFINITY;
    void doubt(since);
  };
  const keepChecking = async (): Promise<void> => {
    let workedAt = performance.now();
    for (;;) {
      const delayMs = checkEveryMs * (0.75 + Math.random() / 2);
      await pause(delayMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      if (stopping.signal.aborted || nats.isClosed()) return;
      const isFine = !isUp() || doubtedSince !== null || others().length === 0 || (await isWorking(nats));
      if (isFine) workedAt = performance.now();
      else beginDoubt(workedAt);
    }
  };
  // Neither rejects, or keeps the process alive.
  void keepChecking();
  void spreadOut(setup, stopping.signal);

  return {
    unanswered: () => {
      unansweredAt = performance.now();
      beginDoubt(unansweredAt);
    },
    connected: () => {
      doubtedSince = null;
    },
    stop: () => stopping.abort(),
  };
}

/** Requires two successful checks in a row: a server that has just come back may fail again. */
async function spreadOut(setup: NodeWatchSetup, signal: AbortSignal): Promise<void> {
  const { nats, inOrder, moveTo } = setup;
  let better: string | null = null;
  while (!signal.aborted) {
    const delayMs = (setup.lookEveryMs ?? lookEveryMs) * (0.5 + Math.random());
    await pause(delayMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted || nats.isClosed()) return;
    const order = inOrder(serversOf(nats));
    const liked = order.slice(0, Math.max(order.indexOf(nats.getServer()), 0));
    const before: string | null = better;
    better = await firstServing(setup, liked);
    if (better !== null && better === before) {
      await moveTo(better);
      better = null;
    }
  }
}

async function expectServing(setup: NodeWatchSetup, address: string): Promise<string> {
  if (await isServing(setup, address)) return address;
  throw new Error(`${address} does not serve.`);
}

async function firstServing(setup: NodeWatchSetup, addresses: readonly string[]): Promise<string | null> {
  for (const address of addresses) if (await isServing(setup, address)) return address;
  return null;
}

/** Whether the address leads to a server other than the current one, and a working one. */
async function isServing({ nats, visit, isWorking }: NodeWatchSetup, address: string): Promise<boolean> {
  try {
    const visited = await visit(address);
    try {
      return visited.info?.server_id !== nats.info?.server_id && (await isWorking(visited));
    } finally {
      await visited.close();
    }
  } catch {
    return false;
  }
}
