import { expect } from "chai";
import { withBreaker } from "../../../src/mail/breaker.ts";
import type { Mail } from "../../../src/mail/mailer.ts";
import { createMailRouting, type MailRouting } from "../../../src/mail/routes/mail-routing.ts";
import { fixedRoutes } from "../../../src/mail/routes/route-book.ts";
import { shareRates } from "../../../src/mail/routes/share-rates.ts";
import { connectJetStream, type JetStreamConnection } from "../../../src/nats/connection.ts";
import { createJetStreamMembership } from "../../../src/workers/jetstream-membership.ts";
import { eventually } from "../../support/eventually.ts";
import { mailRoute } from "../../support/one-route.ts";
import { startNats, type TestNats } from "../../support/services.ts";

const perSecond = 200;
/** What the guide for operators promises. */
const renewedWithinMs = 5000;
const tolerance = 0.05;
const tickMs = 10;

type SendingWorker = { readonly routing: MailRouting; readonly share: () => number | null; leave(): Promise<void> };

const mail: Mail = {
  letter: { from: "a@example.org", replyTo: null, subject: "s", html: null, text: "t", headers: {} },
  to: "b@example.com",
  messageId: "<1@example.org>",
};

describe("a rate that workers of several processes share", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let workers: SendingWorker[];
  let sent: number;

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());
  beforeEach(() => {
    workers = [];
    sent = 0;
  });
  afterEach(async () => {
    for (const worker of workers) await worker.leave();
  });

  /** A process that sends as fast as it may. */
  const join = async (): Promise<void> => {
    const connection: JetStreamConnection = await connectJetStream(nats.config, "test", () => {});
    const book = fixedRoutes([mailRoute({ rate: perSecond })]);
    const taken = async () => {
      sent += 1;
      return { kind: "sent", response: "250 ok" } as const;
    };
    const mailer = {
      connections: 4,
      send: taken,
      probe: async () => ({ kind: "ready" }) as const,
      close: async () => {},
    };
    const routing = createMailRouting(book, () => withBreaker(mailer));
    const membership = createJetStreamMembership(connection, nats.prefix);
    const name = `worker-${workers.length}`;
    const stopAnswering = membership.answer(() => ({
      ...{ name, type: "email.send", busy: 1, slots: 5, helping: 0, breaker: "closed" },
      routes: routing.states(),
    }));
    const count = async () => (await membership.call()).length;
    const rates = shareRates(routing, book, count, (failure) => {
      throw failure;
    });
    routing.start();
    rates.start();
    const stopping = new AbortController();
    const routes = routing.join({ tenant: "default", sender: "a@example.org", route: null });
    const pump = async (): Promise<void> => {
      while (!stopping.signal.aborted) await routes.send(mail, async () => true, stopping.signal);
    };
    const pumping = [pump(), pump(), pump(), pump()];
    workers.push({
      routing,
      share: () => routing.states()[0]?.share ?? null,
      leave: async () => {
        stopAnswering();
        rates.stop();
        stopping.abort();
        await Promise.all(pumping);
        await routing.close();
        await connection.close();
      },
    });
  };
  const leave = async (): Promise<void> => workers.pop()?.leave();
  const settled = () =>
    eventually(() => {
      const expected = workers.map(() => perSecond / workers.length);
      expect(workers.map(({ share }) => share())).to.deep.equal(expected);
    }, renewedWithinMs);
  /** Mails per second, and the share of the time in which this process stood still: a pace does not make up for that. */
  const rateOver = async (ms: number): Promise<{ readonly rate: number; readonly still: number }> => {
    const [begunAt, before] = [performance.now(), sent];
    let [tickedAt, stillMs] = [begunAt, 0];
    const ticking = setInterval(() => {
      stillMs += Math.max(0, performance.now() - tickedAt - tickMs);
      tickedAt = performance.now();
    }, tickMs);
    await eventually(() => expect(performance.now() - begunAt).to.be.greaterThan(ms), ms + 5000);
    clearInterval(ticking);
    const tookMs = performance.now() - begunAt;
    return { rate: ((sent - before) * 1000) / tookMs, still: stillMs / tookMs };
  };
  const expectRate = async (): Promise<void> => {
    await settled();
    const { rate, still } = await rateOver(4000);
    const least = perSecond * (1 - tolerance) * (1 - still);
    expect(rate).to.be.within(least, perSecond * (1 + tolerance));
  };

  it("is kept by one, by two and by five of them, each within 5 s after the last one joined or left", async () => {
    await join();
    await expectRate();
    await join();
    await expectRate();
    await Promise.all([join(), join(), join()]);
    await expectRate();
    await leave();
    await leave();
    await leave();
    await expectRate();
    await leave();
    await expectRate();
  });

  it("is never exceeded while one joins: it waits until the others have counted it", async () => {
    await join();
    await settled();
    const joining = join();
    expect((await rateOver(5000)).rate).to.be.lessThan(perSecond * (1 + tolerance));
    await joining;
    await settled();
  });
});
