import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createSmtpPool, type SmtpPool } from "../../src/mail/smtp-pool.ts";
import type { SmtpSession } from "../../src/mail/smtp-session.ts";
import { failureOf } from "../support/failure-of.ts";

const tooMany = new Error("421 4.7.0 Too many connections");

describe("The connections to a mail server", () => {
  /** How many it allows. */
  let allowed: number;
  let [asked, open, most]: [number, number, number] = [0, 0, 0];
  let ends: Set<() => void>;
  let pool: SmtpPool;

  const openSession = async (onEnd: () => void): Promise<SmtpSession> => {
    asked += 1;
    if (open >= allowed) {
      // A greeting that refuses comes before the login of others is over.
      await pause(1);
      throw tooMany;
    }
    open += 1;
    most = Math.max(most, open);
    let isOpen = true;
    const end = (): void => {
      if (!isOpen) return;
      isOpen = false;
      open -= 1;
      ends.delete(end);
      onEnd();
    };
    await pause(5);
    ends.add(end);
    return {
      send: () => Promise.reject(new Error()),
      canGoOn: async () => isOpen,
      sent: () => 1,
      quit: end,
      close: end,
    };
  };
  beforeEach(() => {
    [allowed, asked, open, most] = [3, 0, 0, 0];
    ends = new Set();
    pool = createSmtpPool(openSession, 10);
  });
  afterEach(() => pool.close());

  const use = (count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, () =>
        pool.use(async () => {
          await pause(1);
          return "sent";
        }),
      ),
    );

  it("carry every mail where the server allows fewer than there may be, and are not asked for again and again", async () => {
    expect(await use(200)).to.deep.equal(Array(200).fill("sent"));
    expect(await use(200)).to.deep.equal(Array(200).fill("sent"));
    expect(most).to.equal(3);
    expect(asked).to.equal(10);
  });

  it("are as many as there may be where the server allows them", async () => {
    allowed = 50;
    await use(200);
    expect([most, asked]).to.deep.equal([10, 10]);
  });

  it("are closed where the server says in answer to a mail that they are too many, and no others are opened instead", async () => {
    allowed = 50;
    const carry = async (): Promise<string> => {
      const result = await pool.use(
        async () => {
          const said = open > 3 ? "too many" : "sent";
          await pause(1);
          return said;
        },
        (said) => said === "too many",
      );
      return result === "sent" ? result : await carry();
    };
    expect(await Promise.all(Array.from({ length: 200 }, carry))).to.deep.equal(Array(200).fill("sent"));
    expect(asked).to.be.at.most(13);
    expect(open).to.be.within(1, 3);
  });

  it("are replaced by as many when they end", async () => {
    await use(50);
    const using = use(100);
    for (const end of [...ends]) end();
    expect(await using).to.have.lengthOf(100);
    expect(most).to.equal(3);
  });

  it("leave each mail with its failure, at once, where the server opens none any more", async () => {
    await use(50);
    allowed = 0;
    for (const end of [...ends]) end();
    const began = performance.now();
    const failures = await Promise.all(Array.from({ length: 30 }, () => failureOf(pool.use(async () => "sent"))));
    expect(failures).to.deep.equal(Array(30).fill(tooMany));
    expect(performance.now() - began).to.be.lessThan(1000);
    allowed = 3;
    expect(await use(20)).to.have.lengthOf(20);
  });

  it("end for those that wait for one, too", async () => {
    const holding = pool.use(() => pause(50));
    await pause(10);
    allowed = 1;
    const waiting = Array.from({ length: 5 }, () => failureOf(pool.use(async () => "sent")));
    await pause(10);
    pool.close();
    for (const failure of await Promise.all(waiting)) expect(failure).to.be.instanceOf(Error);
    await holding;
  });
});
