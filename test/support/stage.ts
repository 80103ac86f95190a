import { rm } from "node:fs/promises";
import { startMailServer, type TestMailServer } from "./mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "./services.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import type { Surroundings } from "./waybill.ts";

/** Servers for a whole service, and a folder for the files that it is given. */
export type Stage = {
  readonly nats: TestNats;
  readonly database: TestDatabase;
  readonly mailServer: TestMailServer;
  readonly folder: string;
  readonly surroundings: Surroundings;
  /** After the service has been stopped. */
  cleanUp(): Promise<void>;
};

export async function setStage(): Promise<Stage> {
  const [nats, database, mailServer, folder] = await Promise.all([
    startNats(),
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
