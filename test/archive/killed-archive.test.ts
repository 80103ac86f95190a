import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { JetStreamManager } from "nats";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import { type Moment, openNatsDoor } from "../support/nats-door.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { settingsFor, startWaybill, type Waybill } from "../support/waybill.ts";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

/** What the command asks of NATS, in the order in which it does. */
const requests = (prefix: string) => ({
  "the reading of what it writes into a file": /CONSUMER\.CREATE[\s\S]*CONSUMER\.CREATE/,
  "the record of a file": new RegExp(`PUB ${prefix}\\.jobs\\._service\\.log\\.archive `),
  "the index of jobs": new RegExp(`PUB \\$KV\\.${prefix}_ARCHIVE\\.jobs\\.`),
  "the list of files": new RegExp(`PUB \\$KV\\.${prefix}_ARCHIVE\\.files `),
  "the shutting of the log": updateOf(prefix, '"max_msg_size":1[,}]'),
  "the cut": updateOf(prefix, '"discard":"old"'),
  "the opening of the log": updateOf(prefix, '"max_msg_size":-1'),
});
const updateOf = (prefix: string, what: string): RegExp =>
  new RegExp(`STREAM\\.UPDATE\\.${prefix}_JOBS [^\\r]*\\r\\n[^\\r]*${what}`);

type Step = keyof ReturnType<typeof requests>;

const moments: readonly (readonly [Moment["shuts"], Step])[] = [
  ["after", "the reading of what it writes into a file"],
  ["before", "the record of a file"],
  ["after", "the record of a file"],
  ["before", "the index of jobs"],
  ["after", "the index of jobs"],
  ["after", "the list of files"],
  ["before", "the shutting of the log"],
  ["after", "the shutting of the log"],
  ["before", "the cut"],
  ["after", "the cut"],
  ["after", "the opening of the log"],
];

describe("waybill archive, killed", function () {
  this.timeout(300_000);
  let stage: Stage;
  let service: Waybill;
  let client: ApiClient;
  let manager: JetStreamManager;
  let closeLog: () => Promise<void>;
  let isOver = false;
  let posting: Promise<void>;
  let posted = 0;
  /** The job of each key that was answered 201, and when the last one was. */
  const accepted = new Map<string, string>();

  const env = { SEAL_EVERY_MINUTES: "0.01", SEAL_EVERY_EVENTS: "5", ARCHIVE_AFTER_HOURS: "0" };
  const post = async (key: string) => {
    const response = await fetch(`${service.url}/api/jobs`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": key },
      body: JSON.stringify({ subject: "Your invoice", body: "Hello", recipients: [`${key}@example.com`] }),
    });
    return { status: response.status, body: (await response.json()) as { readonly jobId: string } };
  };
  /** As a client does that repeats what was not accepted. */
  const keepPosting = async (): Promise<void> => {
    while (!isOver) {
      const key = `reader${posted}`;
      const { status, body } = await postUntilAccepted(key);
      expect(status).to.equal(201);
      accepted.set(key, body.jobId);
      posted += 1;
      await pause(150);
    }
  };
  const postUntilAccepted = async (key: string) => {
    for (;;) {
      const { status, body } = await post(key);
      if (status !== 503) return { status, body };
      await pause(50);
    }
  };
  const isAcceptedAgain = async (): Promise<void> => {
    const before = posted;
    await eventually(() => expect(posted).to.be.greaterThan(before + 2), 30_000);
  };
  const run = (address: string, ...args: readonly string[]): ChildProcess => {
    const settings = { ...settingsFor(stage.surroundings), ...env, NATS_URL: address, ARCHIVE_DIR: stage.folder };
    const child = spawn(process.execPath, [main, ...args], {
      env: { PATH: process.env["PATH"], ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    atEndOfRun(async () => void child.kill("SIGKILL"));
    return child;
  };
  const archive = (address: string): ChildProcess =>
    run(address, "archive", "--before", new Date().toISOString(), "--yes");
  const server = (): string => stage.nats.config.servers[0] ?? "";
  const ended = async (child: ChildProcess): Promise<{ readonly code: number; readonly out: string }> => {
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (out += String(chunk)));
    const [code] = await once(child, "close");
    return { code, out };
  };
  /** Again, where there was nothing to archive yet. */
  const killedAt = async (moment: Moment): Promise<void> => {
    for (;;) {
      const door = await openNatsDoor(server(), moment);
      const child = archive(door.address);
      const exited = once(child, "exit").then(() => false);
      const isThere = await Promise.race([exited, door.reached.then(() => true)]);
      child.kill("SIGKILL");
      await exited;
      await door.stop();
      if (isThere) return;
    }
  };
  const configNow = async () => (await manager.streams.info(`${stage.nats.prefix}_JOBS`)).config;

  before(async () => {
    stage = await setStage();
    const opened = await openJetStreamLog(stage.nats.config, stage.nats.prefix);
    closeLog = opened.close;
    manager = await opened.connection.nats.jetstreamManager();
    service = await startWaybill(stage.surroundings, { ...env, ARCHIVE_DIR: stage.folder });
    client = createApiClient(service.url);
    posting = keepPosting();
    await isAcceptedAgain();
  });
  after(async () => {
    isOver = true;
    await posting;
    await service?.stop();
    await closeLog?.();
    await stage?.cleanUp();
  });

  for (const [when, step] of moments) {
    it(`${when} ${step}, leaves a log that takes jobs without anybody's help`, async () => {
      await killedAt({ request: requests(stage.nats.prefix)[step], shuts: when });
      await isAcceptedAgain();
      expect(await configNow()).to.include({ max_msgs: -1, max_msg_size: -1, discard: "new", deny_purge: true });
    });
  }

  it("and run again to its end, has lost nothing, and nobody is mailed twice", async () => {
    const jobs = new Map(accepted);
    for (const jobId of jobs.values()) await client.ended(jobId);
    const firstAfter = async (): Promise<number> =>
      (await manager.streams.info(`${stage.nats.prefix}_JOBS`)).state.first_seq;
    await eventually(async () => {
      const { code, out } = await ended(archive(server()));
      expect(code, out).to.equal(0);
      expect(await firstAfter()).to.be.greaterThan(1);
    }, 60_000);
    isOver = true;
    await posting;
    const verified = await ended(run(server(), "verify"));
    expect(verified.code, verified.out).to.equal(0);
    for (const [key, jobId] of jobs) {
      const { status, body } = await client.get(`/api/jobs/${jobId}/events`);
      expect(status, JSON.stringify(body)).to.equal(200);
      const types = (body as { type: string }[]).map(({ type }) => type);
      expect([types.at(0), types.at(-1)]).to.deep.equal(["JobCreated", "JobCompleted"]);
      expect((await postUntilAccepted(key)).body.jobId).to.equal(jobId);
    }
    for (const key of accepted.keys()) {
      const copies = stage.mailServer.mails.filter(({ to }) => to.includes(`${key}@example.com`));
      expect(copies.length, key).to.be.at.most(1);
      if (jobs.has(key)) expect(copies, key).to.have.length(1);
    }
  });
});
