import type { NatsConfig } from "../../../src/settings/config.ts";
import { openLogReader } from "../../faults/log-reader.ts";
import type { Observed } from "../../faults/observed.ts";
import { stagedSettings } from "../../faults/staged-settings.ts";
import { findFreePort } from "../../support/free-port.ts";
import { startMailServer, type TestMailServer } from "../../support/mail-server.ts";
import { freshDatabase } from "../../support/services.ts";
import { settingsFor } from "../../support/waybill.ts";
import { type SupervisedProcess, superviseProcess } from "../faults/supervised-process.ts";
import type { Operator } from "./operator.ts";

/** A process of the service, as the unit `waybill@name` runs it. */
type Unit = { readonly name: string; readonly roles: string; readonly healthAddress: string };

const unitOf = (role: string, healthAddress: string): Unit => ({ name: `waybill@${role}`, roles: role, healthAddress });

/** The units of the guide, with the HEALTH_PORT that it has for each; the first makes the tables. */
export const unitsOfGuide: readonly Unit[] = [
  unitOf("projector", "127.0.0.1:9101"),
  unitOf("webhooks", "127.0.0.1:9102"),
  unitOf("worker", "127.0.0.1:9103"),
  unitOf("scheduler", "127.0.0.1:9104"),
  unitOf("outbox", "127.0.0.1:9105"),
  unitOf("bounces", "127.0.0.1:9106"),
  unitOf("api", "127.0.0.1:9107"),
];

/** All roles in one process, which is there sooner. */
export const singleUnit: readonly Unit[] = [unitOf(unitsOfGuide.map(({ roles }) => roles).join(","), "127.0.0.1:9107")];

/** Long enough for mails to be in flight whenever the operator does something. */
const msPerMail = 25;

const settings = { ...stagedSettings, STREAM_REPLICAS: "3", SEAL_EVERY_EVENTS: "1000", SEAL_EVERY_MINUTES: "0.05" };

/** What an operated service needs besides NATS. */
export type Surroundings = {
  readonly mysqlUrl: string;
  readonly mailServer: TestMailServer;
  cleanUp(): Promise<void>;
};

export async function prepareSurroundings(): Promise<Surroundings> {
  const [database, mailServer] = await Promise.all([freshDatabase(), startMailServer()]);
  mailServer.slowDown(msPerMail);
  return {
    mysqlUrl: database.url,
    mailServer,
    cleanUp: async () => {
      await mailServer.stop();
      await database.drop();
    },
  };
}

export type OperatedService = Observed & {
  /** The environment of a command of Waybill. */
  readonly env: Readonly<Record<string, string>>;
  /** Each time that a process ended and no one had ended it. */
  readonly ownEnds: () => readonly string[];
  /** SIGTERM; returns when the process that follows is ready. */
  restart(unit: string): Promise<void>;
  stop(): Promise<void>;
};

/** The service of the guide's plain host, on these nodes. */
export async function startOperatedService(
  { addressOf }: Pick<Operator, "addressOf">,
  config: NatsConfig,
  { mysqlUrl, mailServer }: Surroundings,
  units: readonly Unit[],
): Promise<OperatedService> {
  const nats = { config, prefix: "" };
  const surroundings = { nats, mysqlUrl, smtpUrl: mailServer.url };
  const port = await findFreePort();
  const env = { ...settingsFor(surroundings), ...settings };
  const processes: SupervisedProcess[] = [];
  const start = ({ name, roles, healthAddress }: Unit): void => {
    const healthPort = new URL(`http://${addressOf(healthAddress)}`).port;
    const ports = { HEALTH_PORT: healthPort, PORT: String(port) };
    // It is only restarted by `systemctl restart`, which does not wait.
    processes.push(superviseProcess(name, surroundings, roles, { ...settings, ...ports }, 0));
  };
  const untilReady = (): Promise<unknown> => Promise.all(processes.map((process) => process.untilReady()));
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.stop()));
  };
  try {
    const [first, ...others] = units;
    if (first !== undefined) start(first);
    await untilReady();
    for (const unit of others) start(unit);
    await untilReady();
    const log = await openLogReader(nats);
    return {
      ...{ mysqlUrl, mailServer, log, env },
      apiUrls: () => [`http://127.0.0.1:${port}`],
      ownEnds: () => processes.flatMap(({ ownEnds }) => ownEnds),
      restart: async (unit) => {
        const process = processes.find(({ name }) => name === unit);
        if (process === undefined) throw new Error(`There is no unit ${unit}`);
        await process.restart();
      },
      stop: async () => {
        await log.close();
        await stop();
      },
    };
  } catch (failure) {
    await stop();
    throw failure;
  }
}
