import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { createConnectionShares } from "../../../src/job-kinds/email/connection-shares.ts";

/** Work that lasts until it is ended, and tells when it begins. */
function createMails() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    send: (name: string) => () => {
      begun.push(name);
      return new Promise<void>((end) => ends.push(end));
    },
    endOne: async () => {
      ends.shift()?.();
      await turn();
    },
  };
}

describe("A job's share of the connections to the mail server", () => {
  it("is all of them while no other job is in progress", async () => {
    const mails = createMails();
    const job = createConnectionShares(3).join(100);
    expect(job.window()).to.equal(3);
    const sending = [1, 2, 3, 4].map((n) => job.using(mails.send(`mail ${n}`)));
    await turn();
    expect(mails.begun).to.deep.equal(["mail 1", "mail 2", "mail 3"]);
    expect(job.window()).to.equal(3);
    for (let mail = 0; mail < 4; mail += 1) await mails.endOne();
    await Promise.all(sending);
    expect(mails.begun).to.have.length(4);
    expect(job.window()).to.equal(3);
  });

  it("comes first to the job with the fewest recipients left", async () => {
    const mails = createMails();
    const shares = createConnectionShares(1);
    const [large, small] = [shares.join(100), shares.join(2)];
    const sending = [
      ...[1, 2].map((n) => large.using(mails.send(`large ${n}`))),
      ...[1, 2].map((n) => small.using(mails.send(`small ${n}`))),
    ];
    for (let mail = 0; mail < 4; mail += 1) await mails.endOne();
    await Promise.all(sending);
    expect(mails.begun).to.deep.equal(["large 1", "small 1", "small 2", "large 2"]);
  });

  it("is at least one connection, and one that others use is no part of it", async () => {
    const mails = createMails();
    const shares = createConnectionShares(2);
    const [first, second] = [shares.join(10), shares.join(10)];
    const sending = [1, 2].map((n) => first.using(mails.send(`first ${n}`)));
    await turn();
    expect([first.window(), second.window()]).to.deep.equal([2, 1]);
    await mails.endOne();
    expect([first.window(), second.window()]).to.deep.equal([2, 1]);
    await mails.endOne();
    await Promise.all(sending);
    expect(second.window()).to.equal(2);
  });

  it("comes to a job that has waited for a second, however few recipients others have left", async () => {
    const mails = createMails();
    const shares = createConnectionShares(1);
    const [large, small] = [shares.join(100), shares.join(1)];
    const sending = [large.using(mails.send("large 1")), large.using(mails.send("large 2"))];
    const realNow = performance.now.bind(performance);
    performance.now = () => realNow() + 1500;
    try {
      sending.push(small.using(mails.send("small 1")));
      for (let mail = 0; mail < 3; mail += 1) await mails.endOne();
    } finally {
      performance.now = realNow;
    }
    await Promise.all(sending);
    expect(mails.begun).to.deep.equal(["large 1", "large 2", "small 1"]);
  });

  it("goes on after work that failed", async () => {
    const job = createConnectionShares(1).join(2);
    const failed = job.using(() => Promise.reject(new Error("lost")));
    expect(await failed.catch((failure: Error) => failure.message)).to.equal("lost");
    expect(await job.using(async () => "sent")).to.equal("sent");
  });
});
