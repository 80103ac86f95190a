import { openLogReader } from "../../faults/log-reader.ts";
import type { Observed } from "../../faults/observed.ts";
import { stagedSettings } from "../../faults/staged-settings.ts";
import { findFreePort } from "../../support/free-port.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { startOwnMysql } from "../../support/services.ts";
import { settingsFor } from "../../support/waybill.ts";
import { type ClusterOptions, type NatsCluster, startNatsCluster } from "../nats-cluster.ts";
import { type Elections, watchElections } from "./elections.ts";
import { type SupervisedProcess, superviseProcess } from "./supervised-process.ts";

/** The processes of a service on several machines, by their names; the number makes the name unique. */
const rolesOf = {
  "api-1": "api",
  "api-2": "api",
  "scheduler-1": "scheduler",
  "scheduler-2": "scheduler",
  "worker-1": "worker",
  "worker-2": "worker",
  "worker-3": "worker",
  "worker-4": "worker",
  "projector-1": "projector",
  "projector-2": "projector",
  "webhooks-1": "webhooks",
  "outbox-1": "outbox",
} as const;

export type ProcessName = keyof typeof rolesOf;

/** The service as it runs on several machines: each role twice or more, on three nodes of NATS. */
export type ClusterStage = Observed & {
  readonly cluster: NatsCluster;
  readonly processes: readonly SupervisedProcess[];
  readonly workers: readonly SupervisedProcess[];
  readonly elections: Elections;
  /** The environment of a command of Waybill. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
};

/** Long enough for mails to be in flight whenever a fault strikes. */
const msPerMail = 25;

const settings = {
  ...stagedSettings,
  STREAM_REPLICAS: "3",
  SEAL_EVERY_EVENTS: "1000",
  SEAL_EVERY_MINUTES: "0.1",
  LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "warn",
};

export async function openClusterStage(options: ClusterOptions = {}): Promise<ClusterStage> {
  // First, as it may fail: what else had been started would be left open.
  const cluster = await startNatsCluster(options);
  const [mysql, mailServer] = await Promise.all([startOwnMysql(), startMailServer()]);
  const { url: mysqlUrl } = await mysql.freshDatabase();
  mailServer.slowDown(msPerMail);
  const surroundings = { nats: cluster, mysqlUrl, smtpUrl: mailServer.url };
  const processes: SupervisedProcess[] = [];
  const apiUrls: string[] = [];
  const start = async (name: ProcessName): Promise<void> => {
    const role = rolesOf[name];
    const port = role === "api" ? await findFreePort() : 0;
    if (role === "api") apiUrls.push(`http://127.0.0.1:${port}`);
    processes.push(superviseProcess(name, surroundings, role, { ...settings, PORT: String(port) }));
  };
  const close = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.stop()));
    await mailServer.stop();
    await Promise.all([cluster.cleanUp(), mysql.cleanUp()]);
  };
  try {
    // It makes the tables, which the others wait for.
    await start("projector-1");
    await processes[0]?.untilReady();
    for (const name of Object.keys(rolesOf) as ProcessName[]) if (name !== "projector-1") await start(name);
    await Promise.all(processes.map((process) => process.untilReady()));
    const [log, elections] = [await openLogReader(cluster), await watchElections(cluster)];
    return {
      cluster,
      processes,
      workers: processes.filter(({ name }) => name.startsWith("worker")),
      elections,
      apiUrls: () => apiUrls,
      mailServer,
      mysqlUrl,
      log,
      env: { ...settingsFor(surroundings), ...settings },
      close: async () => {
        await Promise.all([log.close(), elections.close()]);
        await close();
      },
    };
  } catch (failure) {
    // A stage that is not whole would go on beside the next one for ever.
    await close();
    throw failure;
  }
}
