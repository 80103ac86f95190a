import { type ApiClient, createApiClient } from "./api-client.ts";
import { atEndOfFolder } from "./end-of-run.ts";
import { startMailServer, type TestMailServer } from "./mail-server.ts";
import { freshDatabase, startNats } from "./services.ts";
import { startWaybill } from "./waybill.ts";

/** A whole service with its dashboard, and the mail server that it sends to. */
export type DashboardStage = {
  readonly url: string;
  readonly api: ApiClient;
  readonly mailServer: TestMailServer;
  readonly mysqlUrl: string;
};

let shared: Promise<DashboardStage> | null = null;

/** One for all stories of the dashboard: each looks for its own jobs only, by a subject that no other has. */
export function dashboardStage(): Promise<DashboardStage> {
  shared ??= start();
  return shared;
}

/** Jobs call a receiver in the test's own process. */
const settings = { WEBHOOK_ALLOW: "127.0.0.0/8" };

async function start(): Promise<DashboardStage> {
  const [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
  const waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url }, settings);
  atEndOfFolder(async () => {
    shared = null;
    mailServer.release();
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });
  return { url: waybill.url, api: createApiClient(waybill.url), mailServer, mysqlUrl: database.url };
}
