import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type BrokenMailer, withBreaker } from "../../src/mail/breaker.ts";
import type { Mailer } from "../../src/mail/mailer.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { withClockSet } from "../support/clock.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { everybody } from "../support/scripted-smtp.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";
import { mailTo } from "./letters.ts";

const mail = mailTo("ada@example.com");
const unavailable = { kind: "unavailable", error: { code: "smtp-unavailable", message: "down" } } as const;

describe("a mail server that is down for all mails", () => {
  let server: TestMailServer;
  let mailer: BrokenMailer;
  const changes: string[] = [];

  beforeEach(async () => {
    server = await startMailServer();
    const bare = createSmtpMailer({ url: server.url, maxConnections: 2, timeoutMs: 1500, answerTimeoutMs: 1500 });
    mailer = withBreaker(bare, { threshold: 2, firstWaitMs: 50, longestWaitMs: 200 });
    changes.length = 0;
    mailer.onChange((state) => changes.push(state));
  });

  afterEach(async () => {
    await mailer.close();
    await server.stop();
  });

  const breakIt = async (): Promise<void> => {
    await server.stop();
    await mailer.send(mail);
    await mailer.send(mail);
    expect(mailer.state()).not.to.equal("closed");
  };

  it("is not used any more after some mails found it down", async () => {
    await breakIt();
    const outcome = await mailer.send(mail);
    expect(outcome).to.deep.include({ kind: "unavailable" });
    expect(outcome).to.have.nested.property("error.code", "smtp-unavailable");
  });

  it("is probed until it is back, without a mail at stake", async () => {
    await breakIt();
    await server.start();
    await eventually(() => expect(mailer.state()).to.equal("closed"));
    expect(server.mails).to.deep.equal([]);
    expect((await mailer.send(mail)).kind).to.equal("sent");
  });

  it("is probed by one connection at a time, however slowly it answers", async () => {
    let [open, most, probes] = [0, 0, 0];
    const slow: Mailer = {
      connections: 1,
      send: async () => unavailable,
      probe: async () => {
        open += 1;
        most = Math.max(most, open);
        await pause(700);
        open -= 1;
        probes += 1;
        return probes < 2 ? unavailable : { kind: "ready" };
      },
      close: async () => {},
    };
    const guarded = withBreaker(slow, { threshold: 1, firstWaitMs: 10, longestWaitMs: 20 });
    await guarded.send(mail);
    await eventually(() => expect(guarded.state()).to.equal("closed"));
    await pause(100);
    expect([most, probes]).to.deep.equal([1, 2]);
    await guarded.close();
  });

  it("is probed after the usual wait where the clock was set back meanwhile", async () => {
    const back: Mailer = {
      connections: 1,
      send: async () => unavailable,
      probe: async () => ({ kind: "ready" }),
      close: async () => {},
    };
    const guarded = withBreaker(back, { threshold: 1, firstWaitMs: 10, longestWaitMs: 20 });
    await guarded.send(mail);
    await withClockSet(-3_600_000, () => eventually(() => expect(guarded.state()).to.equal("closed"), 2000));
    await guarded.close();
  });

  it("is probed no more once its route is gone, though the last probe fails after that", async () => {
    let probes = 0;
    let fail: () => void = () => {};
    const held: Mailer = {
      connections: 1,
      send: async () => unavailable,
      probe: async () => {
        probes += 1;
        await new Promise<void>((resolve) => {
          fail = resolve;
        });
        return unavailable;
      },
      close: async () => {},
    };
    const guarded = withBreaker(held, { threshold: 1, firstWaitMs: 10, longestWaitMs: 20 });
    await guarded.send(mail);
    await eventually(() => expect(probes).to.equal(1));
    await guarded.close();
    fail();
    await pause(700);
    expect(probes).to.equal(1);
  });

  it("is still used if it refuses single mails only", async () => {
    server.answerRecipient(mail.to, { code: 550, text: "5.1.1 no such user" });
    for (let mails = 0; mails < 5; mails += 1) expect((await mailer.send(mail)).kind).to.equal("failed");
    expect(changes).to.deep.equal([]);
  });

  it("does not reveal its address in the failures of mails", async () => {
    await breakIt();
    expect(JSON.stringify(await mailer.send(mail))).not.to.match(/127\.0\.0\.1|localhost/);
  });
});

describe("jobs that come in while the mail server is down", () => {
  let writeSide: WriteSide;
  let server: TestMailServer;

  beforeEach(async () => {
    [writeSide, server] = await Promise.all([startWriteSide(), startMailServer()]);
    writeSide.startScheduler();
  });

  afterEach(async () => {
    await writeSide.cleanUp();
    await server.stop();
  });

  const createJobs = (count: number): Promise<JobRef[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => writeSide.createJob([`person${index}@example.com`])));
  const viewsOf = (jobs: readonly JobRef[]) => Promise.all(jobs.map((job) => writeSide.readView(job)));
  const count = async (jobs: readonly JobRef[], status: string): Promise<number> =>
    (await viewsOf(jobs)).filter((view) => view.status === status).length;

  it("wait in the queue, but for the few by which it is found out, and are mailed afterwards", async () => {
    writeSide.startWorker(server.url, { concurrency: 1 });
    const before = await createJobs(1);
    await eventually(async () => expect(await count(before, "completed")).to.equal(1));
    await server.stop();
    const jobs = await createJobs(30);
    await eventually(async () => expect(await count(jobs, "retrying")).to.be.at.least(1));
    await eventually(async () => expect((await count(jobs, "queued")) + (await count(jobs, "retrying"))).to.equal(30));
    await server.start();
    await eventually(async () => {
      expect((await count(jobs, "completed")) + (await count(jobs, "retrying"))).to.equal(30);
    });
    expect(await count(jobs, "retrying"), "jobs that found out that it is down").to.be.at.most(5);
  });

  it("lose no attempt to workers that start meanwhile, however many", async () => {
    server.greetWith({ code: 421, text: "4.3.2 come back later" });
    const jobs = await createJobs(20);
    await eventually(async () => expect(await count(jobs, "queued")).to.equal(20));
    for (let started = 0; started < 3; started += 1) {
      const greeted = server.connections;
      const worker = writeSide.startWorker(server.url);
      await eventually(() => expect(server.connections).to.be.above(greeted));
      await worker.stop(1000);
    }
    writeSide.startWorker(server.url);
    server.greetWith(null);
    await eventually(async () => expect(await count(jobs, "completed")).to.equal(20));
    expect((await viewsOf(jobs)).map(({ attempt }) => attempt)).to.deep.equal(jobs.map(() => 1));
  });

  it("are risked one at a time and ever more rarely where it lets workers in and takes nothing", async () => {
    server.answerRecipient(everybody, { code: 421, text: "4.3.2 closing" });
    const jobs = await createJobs(20);
    await eventually(async () => expect(await count(jobs, "queued")).to.equal(20));
    writeSide.startWorker(server.url);
    await eventually(async () => expect(await count(jobs, "retrying")).to.be.at.least(2));
    server.answerRecipient(everybody, null);
    await eventually(async () => {
      expect((await count(jobs, "completed")) + (await count(jobs, "retrying"))).to.equal(20);
    }, 30_000);
    expect(await count(jobs, "retrying"), "jobs that lost an attempt").to.be.at.most(4);
  });

  it("are tried by their schedule if they are few, so that the outage becomes visible", async () => {
    await server.stop();
    writeSide.startWorker(server.url);
    const [job] = await createJobs(1);
    await eventually(async () => {
      const view = await writeSide.readView(job as JobRef);
      expect(view).to.include({ status: "retrying", attempt: 1 });
      expect(view).to.have.nested.property("error.code", "smtp-unavailable");
    });
  });
});
