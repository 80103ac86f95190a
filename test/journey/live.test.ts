import { expect } from "chai";
import { cursorText } from "../../src/event-log/cursor.ts";
import type { Place } from "../../src/event-log/event-log.ts";
import { createApiClient } from "../support/api-client.ts";
import { openStream, readToEnd, type StreamEvent } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const recipients = Array.from({ length: 200 }, (_, index) => `reader-${index}@example.com`);
const mailing = { subject: "As it happens", body: "Hello", recipients };

/** No database anywhere: whatever is told live comes from the log. */
const mysqlUrl = "mysql://nobody@127.0.0.1:1/nowhere";

describe("A mailing that is watched without a database", function () {
  this.timeout(120_000);

  let nats: OwnNats;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let url: string;

  const start = async (): Promise<void> => {
    const env = { ROLES: "api,scheduler,worker", EMAIL_BATCH_DELAY: "5" };
    waybill = await startWaybill({ nats, mysqlUrl, smtpUrl: mailServer.url }, env);
    url = waybill.url;
  };

  before(async () => {
    [nats, mailServer] = await Promise.all([startOwnNats(), startMailServer()]);
    await start();
  });
  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await nats.cleanUp();
  });

  /** Comes again with the last id whenever the stream ends, and each time goes by itself after so many events. */
  async function watch(path: string, goAfter: number, isOver: (event: StreamEvent) => boolean): Promise<StreamEvent[]> {
    const seen: StreamEvent[] = [];
    for (;;) {
      const last = seen.at(-1)?.place;
      const headers: Record<string, string> = last === undefined ? {} : { "Last-Event-ID": last };
      // While NATS is away the answer is 503, and a browser comes again as well.
      const stream = await eventually(async () => {
        const opened = await openStream(url + path, headers);
        expect(opened.status).to.equal(200);
        return opened;
      }, 30_000);
      let count = 0;
      for await (const event of stream.events) {
        seen.push(event);
        count += 1;
        if (isOver(event) || count === goAfter) break;
      }
      stream.close();
      const newest = seen.at(-1);
      if (newest !== undefined && isOver(newest)) return seen;
    }
  }

  it("is told in full, each event once, through lost connections and a crash of NATS", async () => {
    const client = createApiClient(url);
    const jobId = await client.create(mailing);
    const isTheEnd = ({ event }: StreamEvent): boolean => event === "JobCompleted";
    const feeds = [
      watch("/api/events", 70, isTheEnd),
      watch("/api/events?after=1", Number.POSITIVE_INFINITY, isTheEnd),
    ];
    const hasEnded = ({ data }: StreamEvent): boolean => data.completedAt !== null;
    const progress = [
      watch(`/api/jobs/${jobId}/stream`, 10, hasEnded),
      watch(`/api/jobs/${jobId}/stream`, Number.POSITIVE_INFINITY, hasEnded),
    ];
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(40), 30_000);
    await nats.kill();
    await nats.start();

    const [whole, second] = await Promise.all(feeds);
    const history = (await client.get(`/api/jobs/${jobId}/events`)).body as Place[];
    const sequences = history.map(({ sequence }) => sequence);
    const places = history.map(cursorText);
    expect(whole?.map(({ place }) => place)).to.deep.equal(places);
    expect(whole?.map(({ data }) => data)).to.deep.equal(history);
    expect(second?.map(({ place }) => place)).to.deep.equal(places.slice(1));

    for (const told of await Promise.all(progress)) {
      const ids = told.map(({ id }) => id);
      expect(ids).to.deep.equal([...new Set(ids)].toSorted((one, other) => one - other));
      const sent = told.map(({ data }) => data.progress.sent);
      expect(sent).to.deep.equal(sent.toSorted((one, other) => one - other));
      expect(told.at(-1)).to.deep.include({ event: "status", id: sequences.at(-1) });
      expect(told.at(-1)?.data).to.deep.include({ status: "completed", subject: mailing.subject });
      expect(told.at(-1)?.data.progress).to.include({ sent: recipients.length, pending: 0 });
    }
  });

  it("is answered with its end where the client prefers to wait for it", async () => {
    const response = await fetch(`${url}/api/jobs`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Prefer: "wait=60" },
      body: JSON.stringify({ ...mailing, recipients: recipients.slice(0, 3) }),
    });
    expect(response.status).to.equal(201);
    expect(response.headers.get("Preference-Applied")).to.equal("wait=60");
    expect(await response.json()).to.deep.include({ status: "completed" });
  });

  it("does not keep a service that stops, and the next one goes on where it was", async () => {
    const client = createApiClient(url);
    const jobId = await client.create({ ...mailing, recipients: recipients.slice(0, 100) });
    const before = readToEnd(await openStream(`${url}/api/jobs/${jobId}/stream`));
    await eventually(() => expect(mailServer.mails.length).to.be.greaterThan(210), 30_000);
    await waybill.stop();
    const told = await before;
    expect(told.at(-1)?.data.completedAt).to.equal(null);
    await start();
    const headers = { "Last-Event-ID": told.at(-1)?.place ?? "" };
    const rest = await readToEnd(await openStream(`${url}/api/jobs/${jobId}/stream`, headers));
    expect(rest.at(-1)?.data).to.deep.include({ id: jobId, status: "completed" });
    expect(rest[0]?.id).to.be.greaterThan(told.at(-1)?.id ?? 0);
  });
});
