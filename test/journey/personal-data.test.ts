import { expect } from "chai";
import { connect, type NatsConnection } from "nats";
import { createApiClient } from "../support/api-client.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const secrets = {
  address: "geheimnis.person@private-domain.example",
  refused: "nicht.da@private-domain.example",
  deferred: "spaeter.da@private-domain.example",
  subject: "Betreffgeheimnis Quartal",
  body: "Koerpergeheimnis im Text",
  name: "Namensgeheimnis",
};

describe("the log of a mailing whose mail server quotes what it was given", () => {
  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let connection: NatsConnection;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    waybill = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    const { refused, deferred } = secrets;
    mailServer.answerRecipient(refused, { code: 550, text: `5.1.1 <${refused}> nicht.da is unknown` });
    mailServer.answerMessage(deferred, { code: 451, text: `4.7.1 ${deferred} later: ${secrets.subject}` });
    const client = createApiClient(waybill.url);
    const jobId = await client.create({
      subject: secrets.subject,
      body: secrets.body,
      name: secrets.name,
      metadata: { customer: secrets.name },
      deferFor: 0,
      recipients: [secrets.address, refused, deferred],
    });
    await client.ended(jobId);
    const { user, password, servers } = nats.config;
    connection = await connect({
      servers: [...servers],
      ...(user === null ? {} : { user }),
      ...(password === null ? {} : { pass: password }),
    });
  });

  after(async () => {
    await connection.close();
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  it("holds no address, subject, body or name, in no message and no header", async () => {
    const manager = await connection.jetstreamManager();
    const stream = `${nats.prefix}_JOBS`;
    const { state } = await manager.streams.info(stream);
    const stored: string[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const { subject, header, data } = await manager.streams.getMessage(stream, { seq });
      stored.push(`${subject} ${[...header].flat(2).join(" ")} ${new TextDecoder().decode(data)}`);
    }
    const all = stored.join("\n");
    expect(all, "what is looked through").to.include("RecipientSent").and.include("RecipientFailed");
    const parts = Object.values(secrets).flatMap((secret) => [secret, ...secret.split(/[\s@]/)]);
    for (const secret of parts.filter((part) => part.length > 3)) {
      expect(all.toLowerCase(), secret).not.to.include(secret.toLowerCase());
    }
  });
});
