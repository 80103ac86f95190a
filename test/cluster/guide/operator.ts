import { setTimeout as pause } from "node:timers/promises";
import { connect, type NatsConnection } from "nats";
import type { NatsConfig } from "../../../src/settings/config.ts";
import { becomeReader } from "../../docs/reader.ts";
import { runBlock } from "../../docs/run-block.ts";
import { blocksByHeading, guide, guideText } from "./blocks-of-guide.ts";
import { natsProgram } from "./nats-program.ts";
import { type Program, startStandIns } from "./stand-ins.ts";

/** The user of Waybill in the guide's files for nodes. */
const login = { user: "waybill", password: "practice" } as const;
/** Where clients find the nodes of the guide, also the one that it adds later. */
const addresses = { n1: "127.0.0.1:4231", n2: "127.0.0.1:4232", n3: "127.0.0.1:4233", n4: "127.0.0.1:4234" } as const;

type NodeName = keyof typeof addresses;

/** The nodes that the guide begins with, and those that it has in the end. */
export const [firstNodes, lastNodes] = [["n1", "n2", "n3"] as const, ["n1", "n2", "n4"] as const];

/** On a machine that has much else to do. */
const blockMs = 120_000;

/** Does what the guide says, in one bash, heading by heading. */
export type Operator = {
  /** How Waybill connects to nodes of the guide. */
  configOf(nodes: readonly NodeName[]): NatsConfig;
  /** What is here in the place of an address of the guide. */
  addressOf(shown: string): string;
  /** The blocks under a heading, or one of them. */
  follow(heading: string, index?: number): Promise<void>;
  /** The last nodes of the guide and their stores are gone; nodes of the same names start with nothing. */
  loseCluster(): Promise<void>;
  withNats<Result>(work: (nats: NatsConnection) => Promise<Result>): Promise<Result>;
  leave(): Promise<void>;
};

export type OperatorOptions = {
  /** Of the shell. */
  readonly env: Readonly<Record<string, string>>;
  /** Stands in for systemd. */
  readonly systemctl: Program;
};

export async function becomeOperator({ env, systemctl }: OperatorOptions): Promise<Operator> {
  const reader = await becomeReader(guideText, env, false);
  const configOf = (nodes: readonly NodeName[]): NatsConfig => ({
    servers: nodes.map((node) => reader.toRun(addresses[node])),
    ...{ ...login, credsFile: null, caFile: null, isOwn: false },
  });
  const withNats: Operator["withNats"] = async (work) => {
    const { servers } = configOf(["n1", "n2"]);
    const connection = await connect({ servers: [...servers], user: login.user, pass: login.password });
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  };
  const standIns = await startStandIns({ systemctl, nats: natsProgram(withNats) });
  const run = async (script: string): Promise<void> => {
    const { code, printed } = await reader.session.run(reader.toRun(script), { isStrict: true });
    if (code !== 0) throw new Error(`${script} ended with ${code}: ${printed}`);
  };
  // Nodes run in the background of the shell, and end with it, whatever ends it.
  await run(`${standIns.functions}trap 'kill $(jobs -p)' EXIT`);
  return {
    configOf,
    addressOf: reader.toRun,
    withNats,
    follow: async (heading, index) => {
      const all = blocksByHeading.get(heading) ?? [];
      const blocks = index === undefined ? all : all.slice(index, index + 1);
      if (blocks.length === 0) throw new Error(`${guide} has no block under "${heading}" for this test`);
      for (const block of blocks) {
        await inTime(runBlock({ ...block, directive: { kind: "plain" } }, reader, [])).catch((failure: unknown) => {
          throw new Error(`${guide}:${block.line} does not work: ${String(failure)}`, { cause: failure });
        });
      }
    },
    loseCluster: () =>
      run(`kill -9 $(jobs -p); wait || true
for node in ${lastNodes.join(" ")}; do rm -r cluster/$node; start_node $node; done
until curl -s --fail-with-body http://127.0.0.1:8231/healthz; do sleep 1; done`),
    leave: async () => {
      await reader.leave();
      await standIns.stop();
    },
  };
}

/** Blocks wait in loops, which would have no end where what they wait for does not come. */
async function inTime(running: Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = pause(blockMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`it goes on after ${blockMs / 1000} s`);
  });
  await Promise.race([running, late]).finally(() => over.abort());
}
