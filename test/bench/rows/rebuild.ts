import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import mysql, { type RowDataPacket } from "mysql2/promise";
import type { Lifecycle } from "../../../src/process/lifecycle.ts";
import { nodeFlags } from "../../support/node-flags.ts";
import { type Surroundings, settingsFor } from "../../support/waybill.ts";
import { coldAndWarm } from "../cold-and-warm.ts";
import { surroundingsOn } from "../deployment.ts";
import { countingCpu, cpuMicrosOf, peakMbOf, sumOf } from "../process-usage.ts";
import { figureOf, type Measurement } from "../row.ts";
import { medianOfKnown } from "../statistics.ts";
import { toText } from "../wording.ts";
import { type WrittenHistory, writeHistory } from "../write-history.ts";

const main = fileURLToPath(new URL("../../../dist/src/main.js", import.meta.url));
const watchEveryMs = 50;

type Usage = { readonly cpuMicros: number | null; readonly peakMb: number | null };
type Round = Usage & {
  readonly seconds: number;
  /** Of the servers, for the whole rebuild. */
  readonly serversMicros: number | null;
};

/** `waybill rebuild`, from the start of the command to its end, which is a process of its own each time. */
export const rebuild: Measurement = {
  name: "rebuild of all read models",
  timeoutMs: 600_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async ({ ground, lifecycle }) => {
      const surroundings = await surroundingsOn(ground);
      const history = await writeHistory(surroundings, sizes.projectedEvents);
      const servers = new Map([
        ["nats", ground.nats.pid],
        ["database", ground.database.pid],
      ]);
      const run = async (): Promise<Round> => {
        const { result, cpuMicros } = await countingCpu(servers, () => runRebuild(lifecycle, surroundings));
        await mustHoldAll(surroundings, history);
        return { ...result, serversMicros: cpuMicros === null ? null : sumOf(cpuMicros) };
      };
      const rounds = await coldAndWarm(count, run, async () => {});
      const perSecond = ({ seconds }: Round): number => history.events / seconds;
      return {
        figures: [figureOf(rounds, "events/s", perSecond, { warm: { atLeast: 40_000 } })],
        notes: [
          `${toText(history.events)} events; cold: into an empty database, with servers that have read nothing yet`,
          describeUsage(rounds.warm, history),
        ],
        rounds,
      };
    }),
};

async function runRebuild(lifecycle: Lifecycle, surroundings: Surroundings): Promise<Usage & { seconds: number }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeFlags, main, "rebuild"], {
    env: { PATH: process.env["PATH"], ...settingsFor(surroundings) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  lifecycle.started("waybill rebuild", async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const usage = watchUsage(child.pid ?? 0);
  const [code] = await exited;
  const seconds = (performance.now() - startedAt) / 1000;
  if (code !== 0) throw new Error(`waybill rebuild ended with ${code}: ${complaints}`);
  return { seconds, ...usage() };
}

/** A process that has ended has no /proc any more: what it had used shortly before is what is known. */
function watchUsage(pid: number): () => Usage {
  let last: Usage = { cpuMicros: null, peakMb: null };
  const timer = setInterval(() => {
    const [cpuMicros, peakMb] = [cpuMicrosOf(pid), peakMbOf(pid)];
    if (cpuMicros !== null && peakMb !== null) last = { cpuMicros, peakMb };
  }, watchEveryMs).unref();
  return () => {
    clearInterval(timer);
    return last;
  };
}

/** Speed is of no use where something is missing. */
async function mustHoldAll({ mysqlUrl }: Surroundings, { sent }: WrittenHistory): Promise<void> {
  const connection = await mysql.createConnection(mysqlUrl);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(
      "SELECT (SELECT SUM(sent) FROM jobs) AS counted, (SELECT COUNT(*) FROM email_logs) AS logged",
    );
    const [counted, logged] = [Number(rows[0]?.["counted"]), Number(rows[0]?.["logged"])];
    if (counted !== sent || logged !== sent)
      throw new Error(`Of ${sent} mails ${counted} are counted, ${logged} logged`);
  } finally {
    await connection.end();
  }
}

function describeUsage(rounds: readonly Round[], { events }: WrittenHistory): string {
  const middle = (pick: (round: Round) => number | null, by: number): string => {
    const value = medianOfKnown(rounds.map(pick));
    return value === null ? "unknown" : toText(value / by);
  };
  const [command, servers] = [
    middle((round) => round.cpuMicros, events),
    middle((round) => round.serversMicros, events),
  ];
  return `µs CPU an event: waybill ${command}, servers ${servers}; peak MB: ${middle((round) => round.peakMb, 1)}`;
}
