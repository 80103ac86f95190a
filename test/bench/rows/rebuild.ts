import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import mysql, { type RowDataPacket } from "mysql2/promise";
import type { Lifecycle } from "../../../src/lifecycle.ts";
import { type Surroundings, settingsFor } from "../../support/waybill.ts";
import { startClassicDesign } from "../peers/start-peers.ts";
import { countingCpu, cpuMicrosOf, peakMbOf, sumOf } from "../process-usage.ts";
import type { Measurement, Row } from "../row.ts";
import { median, medianOfKnown } from "../statistics.ts";
import { toText } from "../wording.ts";
import { type WrittenHistory, writeHistory } from "../write-history.ts";

const name = "rebuild of all read models";
const main = fileURLToPath(new URL("../../../dist/src/main.js", import.meta.url));
const watchEveryMs = 50;

type Rebuilt = { readonly seconds: number; readonly cpuMicros: number | null; readonly peakMb: number | null };
type Round = {
  readonly rebuilt: Rebuilt;
  /** Of the servers, for the whole rebuild. */
  readonly serversMicros: number | null;
  readonly classicRowsPerSecond: number;
};

/** `waybill rebuild`, from its start to its end. The peer writes a row and a counter for each mail, as it goes along. */
export const rebuildMeasurement: Measurement = {
  rows: [name],
  timeoutMs: 300_000,
  measure: async ({ ground, lifecycle, sizes, rounds: count }) => {
    const prefix = `bench${randomBytes(4).toString("hex")}`;
    const mysqlUrl = await ground.freshDatabase();
    const surroundings = { nats: { config: ground.nats.config, prefix }, mysqlUrl, smtpUrl: "smtp://127.0.0.1:9" };
    const history = await writeHistory(ground, prefix, sizes.projectedEvents);
    const classic = startClassicDesign(lifecycle);
    const runClassic = async (rows: number): Promise<number> =>
      rows / (await classic.ask({ mysqlUrl, port: null, jobs: 1, recipientsPerJob: rows })).seconds;
    const servers = new Map([
      ["nats", ground.nats.pid],
      ["database", ground.database.pid],
    ]);
    const runRound = async (): Promise<Round> => {
      const { result, cpuMicros } = await countingCpu(servers, () => rebuild(lifecycle, surroundings));
      await mustHoldAll(mysqlUrl, history);
      const serversMicros = cpuMicros === null ? null : sumOf(cpuMicros);
      return { rebuilt: result, serversMicros, classicRowsPerSecond: await runClassic(sizes.classicMails) };
    };
    const rounds: Round[] = [];
    for (let round = 0; round < count; round += 1) rounds.push(await runRound());
    return [toRow(rounds, history)];
  },
};

async function rebuild(lifecycle: Lifecycle, surroundings: Surroundings): Promise<Rebuilt> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["--enable-source-maps", main, "rebuild"], {
    env: { PATH: process.env["PATH"], ...settingsFor(surroundings) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  lifecycle.started("waybill rebuild", async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let told = "";
  child.stderr.on("data", (chunk: Buffer) => {
    told += chunk.toString();
  });
  const usage = watchUsage(child.pid ?? 0);
  const [code] = await exited;
  const seconds = (performance.now() - startedAt) / 1000;
  if (code !== 0) throw new Error(`waybill rebuild ended with ${code}: ${told}`);
  return { seconds, ...usage() };
}

/** A process that has ended has no /proc any more: what it had used shortly before is what is known. */
function watchUsage(pid: number): () => Pick<Rebuilt, "cpuMicros" | "peakMb"> {
  let last: Pick<Rebuilt, "cpuMicros" | "peakMb"> = { cpuMicros: null, peakMb: null };
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
async function mustHoldAll(mysqlUrl: string, { sent }: WrittenHistory): Promise<void> {
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

function toRow(rounds: readonly Round[], { events }: WrittenHistory): Row {
  const middle = (pick: (round: Round) => number): number => median(rounds.map(pick));
  const perSecond = ({ rebuilt }: Round): number => events / rebuilt.seconds;
  const cpu = medianOfKnown(rounds.map(({ rebuilt }) => rebuilt.cpuMicros));
  const servers = medianOfKnown(rounds.map(({ serversMicros }) => serversMicros));
  const peak = medianOfKnown(rounds.map(({ rebuilt }) => rebuilt.peakMb));
  const known = (value: number | null): string => (value === null ? "unknown" : toText(value));
  const perEvent = (micros: number | null): string => known(micros === null ? null : micros / events);
  return {
    name,
    figures: [
      { what: "events/s", value: middle(perSecond), atLeast: 25_000 },
      {
        what: "× classic design, rows written/s",
        value: middle((round) => perSecond(round) / round.classicRowsPerSecond),
      },
    ],
    notes: [
      `${toText(events)} events, ${toText(middle(({ rebuilt }) => rebuilt.seconds))} s from the start of the command to its end`,
      `classic design, without mailing: ${toText(middle((round) => round.classicRowsPerSecond))} rows/s`,
      `µs CPU an event: waybill ${perEvent(cpu)}, servers ${perEvent(servers)}; peak MB: ${known(peak)}`,
    ],
    rounds,
  };
}
