import { expect } from "chai";
import { connect, type NatsConnection } from "nats";
import { createApiClient } from "../support/api-client.ts";
import { openStream } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

/** A log of millions of jobs, and what they send. */
const large = ["JOBS", "CONTENT"] as const;

type Asked = {
  readonly stream_name: string;
  readonly config: { readonly filter_subject?: string; readonly filter_subjects?: readonly string[] };
};

describe("The consumers that a whole service makes on the log and its contents", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let connection: NatsConnection;
  let waybill: Waybill;
  /** What any client asks the server to make, and how many there were. */
  const asked: Asked[] = [];

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    const { servers, user, password } = nats.config;
    connection = await connect({ servers: [...servers], ...(user === null ? {} : { user, pass: password ?? "" }) });
    for (const how of ["CREATE", "DURABLE.CREATE"]) {
      for (const more of ["", ".>"]) {
        for (const stream of large)
          connection.subscribe(`$JS.API.CONSUMER.${how}.${nats.prefix}_${stream}${more}`, {
            callback: (_, message) => void asked.push(message.json<Asked>()),
          });
      }
    }
    await connection.flush();
    waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
  });
  after(async () => {
    await waybill.stop();
    await connection.close();
    await mailServer.stop();
    await Promise.all([database.drop(), nats.cleanUp()]);
  });

  it("have no filter, whatever the service is asked", async () => {
    const recipients = Array.from({ length: 30 }, (_, index) => `p${index}@example.com`);
    const client = createApiClient(waybill.url);
    const jobId = await client.create({ subject: "Hello", body: "Hello", recipients });
    const feed = await openStream(`${waybill.url}/api/events`);
    await eventually(async () =>
      expect((await client.get(`/api/jobs/${jobId}`)).body).to.include({ status: "completed" }),
    );
    const paths = ["", "/history", "/evidence", "/logs", "/webhooks"].map((path) => `/api/jobs/${jobId}${path}`);
    for (const path of [...paths, "/api/events?after=0", "/api/seals"]) await (await fetch(waybill.url + path)).text();
    const manager = await connection.jetstreamManager();
    const consumers = await manager.consumers.list(`${nats.prefix}_JOBS`).next();
    feed.close();
    expect(consumers).not.to.deep.equal([]);
    const filtersOf = ({ config }: Asked) => [config.filter_subject ?? [], config.filter_subjects ?? []].flat();
    expect(consumers.flatMap(filtersOf)).to.deep.equal([]);
    expect(asked.length).to.be.at.least(consumers.length);
    const onContents = () => asked.filter(({ stream_name }) => stream_name === `${nats.prefix}_CONTENT`);
    await eventually(() => expect(onContents()).not.to.deep.equal([]));
    expect(asked.flatMap(filtersOf)).to.deep.equal([]);
  });

  it("are seen here if they have one", async () => {
    const filter_subject = `${nats.prefix}.jobs.*.*`;
    const manager = await connection.jetstreamManager();
    await manager.consumers.add(`${nats.prefix}_JOBS`, { filter_subject, inactive_threshold: 1_000_000_000 });
    await eventually(() => expect(asked.map(({ config }) => config.filter_subject)).to.include(filter_subject));
  });
});
