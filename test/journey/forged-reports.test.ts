import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { openAccess } from "../support/access.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { bounceOf, sendBack } from "../support/came-back.ts";
import { eventually } from "../support/eventually.ts";
import { findFreePort } from "../support/free-port.ts";
import { bearer, storedKey } from "../support/keys.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

const returnPath = "bounces@b.example.org";
const forgeries = 2000;
/** What a mail server sends in a second of its own work: the limits below hold on a slow machine, and while others work. */
const secondsOfCpu = 8;
const secondsOfAll = 20;
const megabytes = 120;

/** What a process has cost so far, as the system counts it. */
async function costOf({ pid }: WaybillProcess) {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile(`/proc/${pid}/status`, "utf8"),
  ]);
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  const ticksOfSecond = 100;
  return {
    cpuSeconds: ((user ?? 0) + (system ?? 0)) / ticksOfSecond,
    megabytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024,
  };
}

describe("reports that are forged, repeated, or made to harm", function () {
  this.timeout(300_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let service: WaybillProcess;
  let bounces: WaybillProcess;
  let client: ApiClient;
  let port: number;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    port = await findFreePort();
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    const env = { MAIL_RETURN_PATH: returnPath, BOUNCES_PORT: String(port) };
    service = await spawnWaybill(surroundings, "api,scheduler,worker,projector", env);
    bounces = await spawnWaybill(surroundings, "bounces", env);
    client = createApiClient(service.url);
  });
  after(async () => {
    await Promise.all([service.kill(), bounces.kill()]);
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  /** Its mails, by their return paths. */
  const sent = async (recipients: readonly string[]) => {
    const job = await client.ended(await client.create({ subject: "News", body: "Hello", recipients }));
    expect(job.progress).to.include({ sent: recipients.length });
    const mails = mailServer.mails.filter(({ to }) => to.some((address) => recipients.includes(address)));
    return { jobId: job.id, paths: mails.map(({ from }) => from) };
  };
  const feedbackOf = async (jobId: string): Promise<readonly string[]> => {
    const events = (await client.get(`/api/jobs/${jobId}/events`)).body as readonly { type: string }[];
    return events.map(({ type }) => type).filter((type) => /Bounced|Complained/.test(type));
  };
  const costing = async (of: WaybillProcess, happens: () => Promise<void>) => {
    const before = await costOf(of);
    await happens();
    const after = await costOf(of);
    return { cpuSeconds: after.cpuSeconds - before.cpuSeconds, megabytes: after.megabytes - before.megabytes };
  };
  const expectLittle = (cost: { cpuSeconds: number; megabytes: number }): void => {
    expect(cost.cpuSeconds, "seconds of CPU").to.be.lessThan(secondsOfCpu);
    expect(cost.megabytes, "megabytes more").to.be.lessThan(megabytes);
  };
  const expectWell = async (): Promise<void> => {
    const { jobId, paths } = await sent([`well${Math.random()}@example.com`]);
    expect(await sendBack(port, paths[0] ?? "", bounceOf("x"))).to.match(/^250/);
    await eventually(async () => expect(await feedbackOf(jobId)).to.deep.equal(["RecipientBounced"]));
  };

  /** One connection that tries as many addresses as it is let. */
  const tryAddresses = async (count: number): Promise<number> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    const lines = createInterface({ input: socket });
    await once(lines, "line");
    socket.write("EHLO x.example\r\nMAIL FROM:<>\r\n");
    for (let tried = 0; tried < count; tried += 1) {
      socket.write(`RCPT TO:<bounces+${"a2".repeat(22)}${(tried % 6) + 2}@b.example.org>\r\n`);
    }
    socket.write("QUIT\r\n");
    let refused = 0;
    for await (const line of lines) if (line.startsWith("550 5.1.1")) refused += 1;
    return refused;
  };

  it("cost little where thousands have a wrong token, over one connection and over many", async () => {
    const refused: number[] = [];
    const cost = await costing(bounces, async () => {
      refused.push(await tryAddresses(forgeries));
      const some = async (): Promise<void> => {
        for (let times = 0; times < 3; times += 1) refused.push(await tryAddresses(50));
      };
      await Promise.all(Array.from({ length: 20 }, some));
    });
    expect(refused).to.deep.equal([99, ...Array(60).fill(50)]);
    expectLittle(cost);
    await expectWell();
  });

  it("cost little, and change nothing, where thousands repeat one that is true", async () => {
    const { jobId, paths } = await sent(["ada@example.com", "bob@example.com"]);
    const raw = bounceOf(paths[0] ?? "");
    expect(await sendBack(port, paths[0] ?? "", raw)).to.match(/^250/);
    const repeat = async (times: number): Promise<void> => {
      const socket = connect(port, "127.0.0.1");
      const lines = createInterface({ input: socket });
      await once(lines, "line");
      socket.write("EHLO x.example\r\n");
      const mail = `MAIL FROM:<>\r\nRCPT TO:<${paths[0]}>\r\nDATA\r\n`;
      let [taken, begun] = [0, 0];
      const next = (): void => {
        if (begun === times) socket.write("QUIT\r\n");
        else socket.write(mail);
        begun += 1;
      };
      for await (const line of lines) {
        if (line.startsWith("250 ") && begun === 0) next();
        if (line.startsWith("354")) socket.write(`${raw}\r\n.\r\n`);
        if (line.includes("2.0.0 Taken")) {
          taken += 1;
          next();
        }
      }
      expect(taken).to.equal(times);
    };
    const cost = await costing(bounces, async () => {
      await Promise.all(Array.from({ length: 20 }, () => repeat(forgeries / 20)));
    });
    expect(await feedbackOf(jobId)).to.deep.equal(["RecipientBounced"]);
    expect(cost.cpuSeconds, "seconds of CPU").to.be.lessThan(secondsOfAll);
    expect(cost.megabytes, "megabytes more").to.be.lessThan(megabytes);
  });

  it("cost little where each of forty has five megabytes, and at the same moment", async () => {
    const raw = `From: MAILER-DAEMON@x.example\r\nSubject: failure notice\r\n\r\n${`${"x".repeat(998)}\r\n`.repeat(4900)}`;
    const cost = await costing(bounces, async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => sendBack(port, returnPath, raw)));
      // On a busy machine some are told to come again.
      for (const answer of answers) expect(answer).to.match(/^(250 2\.0\.0|451 4\.3\.0|421 Timeout)/);
      expect(answers.join()).to.include("250 2.0.0 Taken");
    });
    expectLittle(cost);
    await expectWell();
  });

  it("cost little over HTTP, where the key is wrong, another tenant's, or that of the tenant", async () => {
    const { jobId, paths } = await sent(["eve@example.com"]);
    const access = await openAccess(nats);
    try {
      const own = await storedKey(access.store, { tenant: "default", scopes: ["bounces:write"] });
      const other = await storedKey(access.store, { tenant: "other", scopes: ["bounces:write"] });
      const post = async (headers: Record<string, string>) => {
        const init = {
          method: "POST",
          body: bounceOf(paths[0] ?? ""),
          headers: { ...headers, "Content-Type": "message/rfc822" },
        };
        const answer = await fetch(`${service.url}/api/bounces`, init);
        return { status: answer.status, result: ((await answer.json()) as { result?: string }).result };
      };
      const wrong = bearer(`${own.text.slice(0, -1)}${own.text.endsWith("a") ? "b" : "a"}`);
      // The service is open to all until it has heard of the first key.
      await eventually(async () => {
        const { status } = await fetch(`${service.url}/api/jobs`, { headers: wrong });
        expect(status).to.equal(401);
      });
      const cost = await costing(service, async () => {
        const some = async (): Promise<void> => {
          for (let times = 0; times < forgeries / 20; times += 1)
            expect((await post(wrong)).status).to.be.oneOf([401, 429]);
        };
        await Promise.all(Array.from({ length: 20 }, some));
      });
      expect(cost.cpuSeconds, "seconds of CPU").to.be.lessThan(secondsOfAll);
      expect(await post(bearer(other.text))).to.deep.equal({ status: 200, result: "unattributed" });
      expect(await post(bearer(own.text))).to.deep.equal({ status: 200, result: "recorded" });
      expect(await post(bearer(own.text))).to.deep.equal({ status: 200, result: "known" });
      const reader = await storedKey(access.store, { tenant: "default" });
      await eventually(async () => {
        const events = await fetch(`${service.url}/api/jobs/${jobId}/events`, { headers: bearer(reader.text) });
        expect((await events.text()).match(/RecipientBounced/g)).to.have.length(1);
      });
    } finally {
      await access.close();
    }
  });
});
