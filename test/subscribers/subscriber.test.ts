import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { connect, type Msg, type NatsConnection } from "nats";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { jobCancelled, jobCreated } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { type SubscribedNats, startSubscribedNats } from "../support/subscribed-nats.ts";

type Line = { readonly sequence: number; readonly type: string; readonly subject: string };
type Run = { readonly lines: readonly Line[]; stop(): Promise<number> };

const running = new Set<ChildProcess>();

/** What an example says to people where it cannot go on. */
async function complaintOf(env: Record<string, string>, file = "add-subscriber.ts"): Promise<string> {
  const child = spawn(process.execPath, ["--import", "tsx", `ops/examples/${file}`], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = text(child.stderr);
  expect((await once(child, "exit"))[0]).to.equal(1);
  return await said;
}

/** The example as it stands in ops/examples. */
function runExample(file: string, env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, ["--import", "tsx", `ops/examples/${file}`], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

describe("A service that subscribes to the events of its tenant", function () {
  this.timeout(120_000);
  let nats: SubscribedNats;
  let opened: OpenedLog;
  let job: JobRef;
  let toldTooEarly: string;

  before(async () => {
    nats = await startSubscribedNats();
    opened = await openJetStreamLog(nats.waybill, "");
    const [, acme] = [await create("other"), await create("acme"), await create("other")];
    job = acme;
    // As the service has it with a cluster: the first of its nodes is away.
    const addresses = `127.0.0.1:1,${nats.url}`;
    const env = { NATS_URL: addresses, NATS_USER: "waybill", NATS_PASSWORD: nats.passwords.waybill, TENANT: "acme" };
    const own = { NATS_URL: nats.url, NATS_USER: "acme", NATS_PASSWORD: nats.passwords.acme };
    toldTooEarly = await complaintOf(own, "subscriber.ts");
    for (const _ of ["once", "again"]) {
      expect((await once(runExample("add-subscriber.ts", env), "exit"))[0]).to.equal(0);
    }
  });
  after(async () => {
    for (const child of running) child.kill("SIGKILL");
    await opened?.close();
    await nats?.cleanUp();
  });

  const create = async (tenant: string): Promise<JobRef> => {
    const ref = newJob(tenant);
    await happen(opened.log, ref, [jobCreated()]);
    return ref;
  };

  const subscribe = (): Run => {
    const addresses = `127.0.0.1:1,${nats.url}`;
    const env = { NATS_URL: addresses, NATS_USER: "acme", NATS_PASSWORD: nats.passwords.acme, CONSUMER: "acme" };
    const child = runExample("subscriber.ts", env);
    const lines: Line[] = [];
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) =>
      lines.push(JSON.parse(line)),
    );
    const stop = async (): Promise<number> => {
      child.kill("SIGTERM");
      return (await once(child, "exit"))[0] as number;
    };
    return { lines, stop };
  };

  const received = (run: Run, count: number) =>
    eventually(async () => {
      expect(run.lines.map(({ subject, type }) => [subject, type])).to.have.length(count);
    }, 30_000);

  it("receives those that are there and those that come, and goes on where it was when it comes again", async () => {
    const first = subscribe();
    await received(first, 1);
    await happen(opened.log, job, [jobCancelled()]);
    await received(first, 2);
    expect(first.lines.map(({ subject, type }) => [subject, type])).to.deep.equal([
      [job.jobId, "JobCreated"],
      [job.jobId, "JobCancelled"],
    ]);
    expect(await first.stop()).to.equal(0);

    const next = await create("acme");
    await create("other");
    const second = subscribe();
    await received(second, 1);
    expect(second.lines[0]).to.include({ subject: next.jobId, type: "JobCreated" });
    expect(await second.stop()).to.equal(0);
  });

  it("says in one line that its consumer is missing, until the operator has made it", () => {
    expect(toldTooEarly).to.match(/^NATS at .+ cannot be used as acme: .*consumer not found\n$/);
  });

  it("is refused a consumer of no tenant, of a place that the log has not reached, or by its own account, in a line", async () => {
    const waybill = { NATS_URL: nats.url, NATS_USER: "waybill", NATS_PASSWORD: nats.passwords.waybill };
    const acme = { NATS_URL: nats.url, NATS_USER: "acme", NATS_PASSWORD: nats.passwords.acme, TENANT: "acme" };
    expect(await complaintOf({ ...waybill, TENANT: "" })).to.match(/^TENANT is ""; expected the tenant .+\n$/);
    expect(await complaintOf({ ...waybill, TENANT: "*" })).to.match(/^TENANT is "\*"; .+\n$/);
    expect(await complaintOf({ ...waybill, TENANT: "acme", FROM: "99999" })).to.match(
      /^FROM is 99999; the log ends with \d+\n$/,
    );
    expect(await complaintOf(acme)).to.match(/^NATS at .+ cannot be used as acme: .+\n$/);
  });

  describe("and tries more than that", () => {
    let subscriber: NatsConnection;
    const refused: string[] = [];

    before(async () => {
      subscriber = await connect({
        servers: nats.url,
        user: "acme",
        pass: nats.passwords.acme,
        inboxPrefix: "_INBOX_acme",
      });
      void (async () => {
        for await (const status of subscriber.status()) refused.push(status.permissionContext?.subject ?? "");
      })();
    });
    after(() => subscriber?.close());

    const lastSequence = async (): Promise<number> => (await opened.log.state()).lastSequence;

    it("writes nothing into the log", async () => {
      const before = await lastSequence();
      for (const subject of ["jobs.acme.x", "jobs.other.x", "content.acme.x", "suppressions.acme.x"]) {
        subscriber.publish(subject, "{}");
        await eventually(async () => expect(refused).to.include(subject));
      }
      expect(await lastSequence()).to.equal(before);
    });

    it("makes JetStream write nothing into the log by the subject that it wants its answers on", async () => {
      const sent = await create("acme");
      const before = await lastSequence();
      const reply = "jobs.other.x";
      const wish = JSON.stringify({ batch: 1, no_wait: true });
      const info = "waybill.api.CONSUMER.INFO.JOBS.acme";
      const next = "waybill.api.CONSUMER.MSG.NEXT.JOBS.acme";
      subscriber.publish(info, "", { reply });
      subscriber.publish(next, wish, { reply });
      // They are served in turn: with these answered, those were.
      expect((await subscriber.request(info)).json()).to.include({ name: "acme" });
      const inbox = subscriber.subscribe("_INBOX_acme.next", { max: 1 });
      subscriber.publish(next, wish, { reply: "_INBOX_acme.next" });
      let message: Msg | undefined;
      for await (const one of inbox) message = one;
      expect(message?.subject).to.equal(`jobs.acme.${sent.jobId}`);
      subscriber.publish(message?.reply ?? "", "", { reply });
      await eventually(async () =>
        expect((await subscriber.request(info)).json()).to.deep.include({ num_ack_pending: 0 }),
      );
      // Whatever was on its way into the log has come before this one.
      await create("acme");
      expect(await lastSequence()).to.equal(before + 1);
    });

    for (const subject of [
      "$JS.API.STREAM.MSG.GET.JOBS",
      "$JS.API.STREAM.MSG.GET.CONTENT",
      "$JS.API.DIRECT.GET.CONTENT.content.acme.x",
      "$JS.API.STREAM.INFO.JOBS",
      "$JS.API.STREAM.DELETE.JOBS",
      "$JS.API.STREAM.PURGE.CONTENT",
      "$JS.API.CONSUMER.CREATE.JOBS",
      "$JS.API.CONSUMER.DURABLE.CREATE.JOBS.other",
      "$JS.API.CONSUMER.DELETE.JOBS.acme",
      "$JS.API.CONSUMER.MSG.NEXT.JOBS.other",
      "waybill.api.CONSUMER.MSG.NEXT.JOBS.other",
      "$KV.keys.x",
    ]) {
      it(`asks for nothing by ${subject}`, async () => {
        subscriber.publish(subject, "{}", { reply: "_INBOX_acme.x" });
        await eventually(async () => expect(refused).to.include(subject));
      });
    }

    for (const subject of ["jobs.>", "jobs.acme.>", ">", "$KV.>", "content.>", "_INBOX.>"]) {
      it(`listens to nothing on ${subject}`, async () => {
        subscriber.subscribe(subject, { callback: () => {} });
        await eventually(async () => expect(refused).to.include(subject));
      });
    }
  });
});
