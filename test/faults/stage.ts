import { openAccess } from "../support/access.ts";
import { findFreePort } from "../support/free-port.ts";
import { bearer, storedKey } from "../support/keys.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type OwnNats, startOwnMysql, startOwnNats, type TestMysql } from "../support/services.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import type { Surroundings } from "../support/waybill.ts";
import { type LogReader, openLogReader } from "./log-reader.ts";
import type { Observed } from "./observed.ts";
import { untilFollowed, writePast } from "./past.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import { createStagedProcess, type StagedProcess } from "./staged-process.ts";
import { stagedSettings } from "./staged-settings.ts";

/** Every process of the service; there are two workers, so that one can take over from the other. */
export const actors = ["api", "scheduler", "projector", "bounces", "worker", "otherWorker"] as const;
export type Actor = (typeof actors)[number];

/** What can be cut between a process and the servers it talks to. */
export type Links = { readonly nats: TcpProxy; readonly mysql: TcpProxy; readonly smtp: TcpProxy };

/** The service in real processes on servers of its own, with a door on each link between them. */
export type Stage = Observed & {
  readonly actors: Readonly<Record<Actor, StagedProcess>>;
  readonly links: Readonly<Record<Actor, Links>>;
  readonly nats: OwnNats;
  readonly mysql: TestMysql;
  /** Where mails that came back are taken. */
  readonly bouncesPort: number;
  /** Those of two people, one of whom may approve what the other asks for; of no one where callers need no keys. */
  readonly people: { readonly asker: Headers; readonly approver: Headers };
  /** What NATS stores on; null for the shared disk. */
  readonly disk: SmallDisk | null;
  close(): Promise<void>;
};

/** Long enough for mails to be in flight whenever a fault strikes. */
export const usualMsPerMail = 60;

type Headers = Readonly<Record<string, string>>;

export type StageOptions = {
  /** Keeps what NATS stores on a disk of its own that can be filled. */
  readonly smallDisk?: true;
  /** How large the log may become. */
  readonly jobsMaxBytes?: number;
  /** Callers need keys; the stage has them. */
  readonly needsKeys?: true;
  /** So many jobs have ended long ago: they are in the log, and in the read models before the cell begins. */
  readonly agedJobs?: number;
};

export async function openStage({
  smallDisk,
  jobsMaxBytes,
  needsKeys,
  agedJobs = 0,
}: StageOptions = {}): Promise<Stage> {
  const disk = smallDisk ? await mountSmallDisk() : null;
  const past = agedJobs === 0 ? null : await writePast(agedJobs);
  const [ownNats, mysql, mailServer] = await Promise.all([
    startOwnNats(disk?.folder ?? past?.folder),
    startOwnMysql(),
    startMailServer(),
  ]);
  const nats = past === null ? ownNats : { ...ownNats, prefix: past.prefix };
  const { url: mysqlUrl } = await mysql.freshDatabase();
  mailServer.slowDown(usualMsPerMail);
  const bouncesPort = await findFreePort();
  const links = await forEachActor(() => openLinks(nats, mysqlUrl, mailServer));
  const processes = await forEachActor(async (actor) =>
    createStagedProcess(toSurroundings(nats, mysqlUrl, links[actor]), roleOf(actor), {
      ...stagedSettings,
      BOUNCES_PORT: String(bouncesPort),
      ...(jobsMaxBytes === undefined ? {} : { JOBS_MAX_BYTES: String(jobsMaxBytes) }),
    }),
  );
  let log: LogReader | null = null;
  const close = async (): Promise<void> => {
    await Promise.all(actors.map((actor) => processes[actor].kill()));
    await log?.close();
    await mailServer.stop();
    const doors = actors.flatMap((actor) => Object.values(links[actor]));
    await Promise.all(doors.map((door) => door.stop()));
    await Promise.all([nats.cleanUp(), mysql.cleanUp()]);
    await disk?.remove();
  };
  try {
    await processes.projector.start();
    await Promise.all(actors.map((actor) => processes[actor].start()));
    log = await openLogReader(nats, (past?.entries ?? 0) + 1);
    if (past !== null) await untilFollowed(processes.api.url(), past);
    const people = needsKeys ? await giveKeys(nats) : { asker: {}, approver: {} };
    const apiUrls = (): readonly string[] => [processes.api.url()];
    const clients = { apiUrls, headers: people.asker, people };
    return {
      actors: processes,
      ...clients,
      links,
      nats,
      mysql,
      mailServer,
      disk,
      bouncesPort,
      mysqlUrl,
      log,
      close,
    };
  } catch (failure) {
    // A stage that is not whole would go on beside the next one for ever.
    await close();
    throw failure;
  }
}

async function giveKeys(nats: OwnNats): Promise<Stage["people"]> {
  const { store, close } = await openAccess(nats);
  try {
    const asker = await storedKey(store, { tenant: "default" });
    const approver = await storedKey(store, { tenant: "default", scopes: ["jobs:read", "jobs:approve"] });
    return { asker: bearer(asker.text), approver: bearer(approver.text) };
  } finally {
    await close();
  }
}

const roleOf = (actor: Actor): string => (actor === "otherWorker" ? "worker" : actor);

async function forEachActor<Result>(make: (actor: Actor) => Promise<Result>): Promise<Record<Actor, Result>> {
  const pairs = await Promise.all(actors.map(async (actor) => [actor, await make(actor)] as const));
  return Object.fromEntries(pairs) as Record<Actor, Result>;
}

async function openLinks(nats: OwnNats, mysqlUrl: string, mailServer: TestMailServer): Promise<Links> {
  const host = "127.0.0.1";
  return {
    nats: await startTcpProxy({ host, port: portOfNats(nats) }),
    mysql: await startTcpProxy({ host, port: Number(new URL(mysqlUrl).port) }),
    smtp: await startTcpProxy({ host, port: mailServer.port }),
  };
}

const portOfNats = (nats: OwnNats): number => Number(nats.config.servers[0]?.split(":").at(-1));

function toSurroundings(nats: OwnNats, mysqlUrl: string, links: Links): Surroundings {
  const url = new URL(mysqlUrl);
  url.port = String(links.mysql.port);
  return {
    nats: { ...nats, config: { ...nats.config, servers: [`127.0.0.1:${links.nats.port}`] } },
    mysqlUrl: url.href,
    smtpUrl: `smtp://127.0.0.1:${links.smtp.port}`,
  };
}
