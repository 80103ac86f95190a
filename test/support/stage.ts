import { rm } from "node:fs/promises";
import { startMailServer, type TestMailServer } from "./mail-server.ts";
import { freshDatabase, type OwnNats, startNats, startOwnNats, type TestDatabase, type TestNats } from "./services.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import type { Surroundings } from "./waybill.ts";

/** Servers for a whole service, and a folder for the files that it is given. */
export type Stage<Nats extends TestNats = TestNats> = {
  readonly nats: Nats;
  readonly database: TestDatabase;
  readonly mailServer: TestMailServer;
  readonly folder: string;
  readonly surroundings: Surroundings;
  /** After the service has been stopped. */
  cleanUp(): Promise<void>;
};

export const setStage = (): Promise<Stage> => setStageOn(startNats());

/** For a test that takes NATS away. */
export const setStageOnOwnNats = (): Promise<Stage<OwnNats>> => setStageOn(startOwnNats());

async function setStageOn<Nats extends TestNats>(starting: Promise<Nats>): Promise<Stage<Nats>> {
  const [nats, database, mailServer, folder] = await Promise.all([
    starting,
    freshDatabase(),
    startMailServer(),
    temporaryFolder(),
  ]);
  return {
    nats,
    database,
    mailServer,
    folder,
    surroundings: { nats, mysqlUrl: database.url, smtpUrl: mailServer.url },
    cleanUp: async () => {
      await mailServer.stop();
      await database.drop();
      await nats.cleanUp();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
