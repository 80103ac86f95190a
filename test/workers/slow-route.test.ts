import { expect } from "chai";
import { withBreaker } from "../../src/mail/breaker.ts";
import { createMailRouting, type MailRouting } from "../../src/mail/routes/mail-routing.ts";
import { fixedRoutes } from "../../src/mail/routes/route-book.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { mailRoute } from "../support/one-route.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

describe("A worker with many mailings whose route lets one mail through in a while", () => {
  let writeSide: WriteSide;
  let server: TestMailServer;
  let routing: MailRouting;

  beforeEach(async () => {
    [writeSide, server] = await Promise.all([startWriteSide(), startMailServer()]);
    writeSide.startScheduler();
    const routes = [mailRoute(), mailRoute({ name: "slow", tenants: ["shop"], order: 1 })];
    routing = createMailRouting(fixedRoutes(routes), ({ connections }) =>
      withBreaker(
        createSmtpMailer({ url: server.url, maxConnections: connections, timeoutMs: 20_000, answerTimeoutMs: 20_000 }),
      ),
    );
    setRate(0.1);
  });
  afterEach(async () => {
    await writeSide.cleanUp();
    await server.stop();
  });

  const setRate = (perSecond: number | null): void => routing.runs()[1]?.pace.setRate(perSecond);
  const people = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${name}${index}@example.com`);
  const createSlow = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => writeSide.createJob(people(`slow${index}-`, 20), {}, {}, "shop")),
    );

  it("has slots left for the jobs of other routes", async () => {
    const worker = writeSide.startWorker(server.url, { routing });
    const slow = await createSlow(10);
    await eventually(() => expect(worker.busy()).to.be.at.least(8));
    const quick = await Promise.all(people("quick", 10).map((person) => writeSide.createJob([person])));
    await eventually(async () => {
      for (const job of quick) expect((await writeSide.readView(job)).status).to.equal("completed");
    });
    setRate(null);
    await eventually(async () => {
      for (const job of slow) expect((await writeSide.readView(job)).status).to.equal("completed");
    }, 40_000);
    expect(new Set(server.mails.flatMap(({ to }) => to)).size).to.equal(server.mails.length);
  }).timeout(60_000);
});
