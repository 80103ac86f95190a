import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { makeKeyFile } from "../../src/secrets/make-key-file.ts";
import { createApiClient } from "../support/api-client.ts";
import { allCommands, type Outcome, runProgram } from "../support/command-tree.ts";
import { eventually } from "../support/eventually.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { settingsFor, startWaybill, type Waybill } from "../support/waybill.ts";

/** What a command cannot do its work without: the service, NATS alone, NATS and the database, or nothing. */
type Need = "service" | "nats" | "servers" | "nothing";

const nobody = "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f";

/** `start` runs until it is stopped, and the others ask no one: they have tests of their own. */
const withOwnTests = ["start", "completion", "profiles list", "profiles set", "profiles use", "profiles remove"];

/** Words with which each of the other commands can do its work. */
const calls: Readonly<Record<string, { readonly needs: Need; readonly words: readonly string[] }>> = {
  migrate: { needs: "servers", words: [] },
  rebuild: { needs: "servers", words: ["--check"] },
  send: {
    needs: "service",
    words: ["--subject", "S", "--text", "LETTER", "--csv", "READERS", "--id", "second", "--wait"],
  },
  stats: { needs: "service", words: [] },
  "dead-letters list": { needs: "service", words: [] },
  "dead-letters causes": { needs: "service", words: [] },
  "dead-letters requeue": { needs: "service", words: ["DEADLETTER"] },
  "dead-letters ignore": { needs: "service", words: ["DEADLETTER2", "--reason", "an old address"] },
  "suppressions list": { needs: "service", words: [] },
  "suppressions add": { needs: "service", words: ["gone@example.com"] },
  "suppressions remove": { needs: "service", words: ["gone@example.com"] },
  "suppressions import": { needs: "service", words: ["GONE"] },
  "suppressions export": { needs: "service", words: [] },
  "jobs list": { needs: "service", words: [] },
  "jobs show": { needs: "service", words: ["DONE"] },
  "jobs explain": { needs: "service", words: ["DONE"] },
  "jobs watch": { needs: "service", words: ["DONE"] },
  "jobs recipients": { needs: "service", words: ["DONE"] },
  "jobs logs": { needs: "service", words: ["DONE"] },
  "jobs evidence": { needs: "service", words: ["DONE"] },
  "jobs cancel": { needs: "service", words: ["WAITING"] },
  "jobs pause": { needs: "service", words: ["HELD"] },
  "jobs resume": { needs: "service", words: ["PAUSED"] },
  "jobs retry": { needs: "service", words: ["FAILED"] },
  "mailings list": { needs: "service", words: [] },
  "mailings create": { needs: "service", words: ["--subject", "S", "--text", "LETTER"] },
  "mailings import": { needs: "service", words: ["DRAFT", "--csv", "READERS"] },
  "mailings test": { needs: "service", words: ["DRAFT", "me@example.com", "--variables", '{"name": "Me"}'] },
  "mailings show": { needs: "service", words: ["MAILED"] },
  "mailings parts": { needs: "service", words: ["MAILED"] },
  "mailings explain": { needs: "service", words: ["MAILED"] },
  "mailings watch": { needs: "service", words: ["MAILED"] },
  "mailings recipients": { needs: "service", words: ["MAILED"] },
  "mailings logs": { needs: "service", words: ["MAILED"] },
  "mailings evidence": { needs: "service", words: ["MAILED"] },
  "mailings events": { needs: "service", words: ["MAILED"] },
  "mailings start": { needs: "service", words: ["READY"] },
  "mailings undo": { needs: "service", words: ["LEAVING"] },
  "mailings approve": { needs: "service", words: ["ASKED", "--digest", "DIGEST1"] },
  "mailings reject": { needs: "service", words: ["ASKED2", "--reason", "no"] },
  "mailings pause": { needs: "service", words: ["GOING"] },
  "mailings resume": { needs: "service", words: ["STOPPED"] },
  "mailings cancel": { needs: "service", words: ["LATER"] },
  "mailings retry": { needs: "service", words: ["MISSED"] },
  "schedules list": { needs: "service", words: [] },
  "schedules create": { needs: "service", words: ["SCHEDULEFILE"] },
  "schedules show": { needs: "service", words: ["SCHEDULE"] },
  "schedules pause": { needs: "service", words: ["SCHEDULE"] },
  "schedules resume": { needs: "service", words: ["SCHEDULE"] },
  "schedules firings": { needs: "service", words: ["SCHEDULE"] },
  "schedules delete": { needs: "service", words: ["SCHEDULE"] },
  "templates list": { needs: "service", words: [] },
  "templates put": { needs: "service", words: ["welcome", "--subject", "S", "--text", "LETTER"] },
  "templates show": { needs: "service", words: ["welcome"] },
  "templates preview": { needs: "service", words: ["welcome", "--variables", '{"name": "Ada"}'] },
  events: { needs: "service", words: [] },
  replay: { needs: "service", words: ["--job", "DONE"] },
  verify: { needs: "nats", words: ["--job", "DONE"] },
  archive: { needs: "nats", words: ["--before", "2020-01-01", "--to", "ARCHIVED"] },
  doctor: { needs: "nothing", words: [] },
  "keys create": { needs: "nats", words: ["--tenant", "other"] },
  "keys list": { needs: "nats", words: [] },
  "keys revoke": { needs: "nats", words: ["KEYID"] },
  "tenants list": { needs: "nats", words: [] },
  "throttles list": { needs: "nats", words: [] },
  "tenants set": { needs: "nats", words: ["acme", "--senders", "none"] },
  "webhooks secret": { needs: "nats", words: [] },
  "routes set": { needs: "service", words: ["second", "--url", "smtp://127.0.0.1:1", "--senders", "other.example"] },
  "routes list": { needs: "service", words: [] },
  "routes remove": { needs: "service", words: ["second"] },
  "secrets rotate": { needs: "nats", words: [] },
  "seals key": { needs: "nats", words: [] },
  "seals rotate": { needs: "nats", words: [] },
  "seals accept": { needs: "servers", words: [] },
  "log export": { needs: "nats", words: ["EXPORTED"] },
  "log show": { needs: "nats", words: ["PLANTED"] },
  "log pass": { needs: "nats", words: ["--sequence", "PLANTED", "--sha256", "DIGEST", "--reason", "planted"] },
};
/** Names of jobs, mailings and schedules. */
const ids = [
  ...["DONE", "WAITING", "HELD", "PAUSED", "FAILED", "MAILED", "MISSED", "DRAFT", "READY", "LEAVING"],
  ...["ASKED", "ASKED2", "GOING", "STOPPED", "LATER", "SCHEDULE"],
];
const yearly = {
  name: "Yearly",
  cron: "0 9 1 1 *",
  job: { subject: "S", body: "B", recipients: ["ada@example.com"] },
};
const needing = (...needs: readonly Need[]) => Object.entries(calls).filter(([, call]) => needs.includes(call.needs));

describe("Every command, where things are as they should be and where they are not", () => {
  let stage: Stage;
  let service: Waybill;
  let env: Readonly<Record<string, string>>;
  let places: Readonly<Record<string, string>>;

  before(async () => {
    stage = await setStage();
    const keys = { SECRETS_KEY: join(stage.folder, "secrets.key") };
    await makeKeyFile(keys.SECRETS_KEY);
    service = await startWaybill(stage.surroundings, keys);
    env = { ...settingsFor(stage.surroundings), ...keys, WAYBILL_URL: service.url };
    places = { ...(await makeFiles()), ...(await makeJobs()) };
    // From here on the service asks for a key.
    const asker = JSON.parse((await run("keys create", ["--tenant", "default", "--json"])).out);
    env = { ...env, WAYBILL_KEY: asker.key };
    places = { ...places, ...(await makeMailings()) };
    const scopes = "jobs:read,jobs:write,jobs:approve,events:read,admin";
    const key = JSON.parse((await run("keys create", ["--tenant", "default", "--scopes", scopes, "--json"])).out);
    env = { ...env, WAYBILL_KEY: key.key };
    const other = JSON.parse((await run("keys create", ["--tenant", "gone", "--json"])).out);
    places = { ...places, KEYID: other.id, ...(await plantMessage()) };
  });
  after(async () => {
    await service?.stop();
    await stage?.cleanUp();
  });

  /** A message that cannot be decoded and is already passed by, so that nothing stops at it. */
  async function plantMessage(): Promise<Record<string, string>> {
    const { connection, close } = await openJetStreamLog(stage.nats.config, stage.nats.prefix);
    const subject = `${stage.nats.prefix}.jobs.default.planted.facts`;
    const { seq } = await connection.nats.jetstream().publish(subject, "hello");
    await close();
    const { sha256 } = JSON.parse((await run("log show", [String(seq), "--json"])).out);
    const planted = { PLANTED: String(seq), DIGEST: sha256 };
    places = { ...places, ...planted };
    await run("log pass", filledIn(calls["log pass"]?.words ?? []));
    return planted;
  }

  async function makeFiles(): Promise<Record<string, string>> {
    const at = (name: string): string => join(stage.folder, name);
    await writeFile(at("letter.txt"), "Hello {{ name }}");
    await writeFile(at("schedule.json"), JSON.stringify(yearly));
    await writeFile(at("readers.csv"), "email,name\nada@example.com,Ada\n");
    await writeFile(at("gone.csv"), "email\nold@example.com\n");
    return {
      LETTER: at("letter.txt"),
      SCHEDULEFILE: at("schedule.json"),
      READERS: at("readers.csv"),
      GONE: at("gone.csv"),
      EXPORTED: at("log.ndjson"),
      ARCHIVED: at("archive"),
    };
  }

  async function makeJobs(): Promise<Record<string, string>> {
    const client = createApiClient(service.url);
    stage.mailServer.answerRecipient("full@example.com", { code: 552, text: "5.2.2 Mailbox full" });
    const mailing = { subject: "S", body: "B", recipients: ["ada@example.com"] };
    const later = { ...mailing, scheduledAt: "2099-01-01T00:00:00Z" };
    const toFull = { ...mailing, recipients: ["full@example.com"] };
    const [done, failed, dead, deader, waiting, held, paused] = await Promise.all([
      client.create(mailing),
      client.create(toFull),
      client.create(toFull),
      client.create(toFull),
      client.create(later),
      client.create(later),
      client.create(later),
    ]);
    await client.post(`/api/jobs/${paused}/pause`);
    await Promise.all([done, failed, dead, deader].map((job) => client.ended(job)));
    const { body: schedule } = await client.post("/api/schedules", yearly);
    return {
      DONE: done,
      FAILED: failed,
      DEADLETTER: `${dead}.1`,
      DEADLETTER2: `${deader}.1`,
      WAITING: waiting,
      HELD: held,
      PAUSED: paused,
      SCHEDULE: (schedule as { id: string }).id,
    };
  }

  async function makeMailings(): Promise<Record<string, string>> {
    const at = (name: string): string => join(stage.folder, name);
    await writeFile(at("full.csv"), "email,name\nfull@example.com,Ada\n");
    const make = async (...words: readonly string[]): Promise<{ mailing: string; approval: { digest: string } }> => {
      const all = filledIn([
        "--subject",
        "S",
        "--text",
        "LETTER",
        "--csv",
        "READERS",
        "--id",
        words.join(""),
        ...words,
      ]);
      const { code, out, err } = await run("send", [...all, "--json"]);
      // Of those for which everybody waits, one fails.
      expect(code, err).to.equal(words.includes("full") ? 1 : 0);
      return JSON.parse(out);
    };
    const ofLater = (name: string) => make("--scheduled-at", "2099-01-01T00:00:00Z", "--name", name);
    const stopped = await ofLater("stopped");
    await run("mailings pause", [stopped.mailing]);
    const asked = await make("--approval");
    return {
      MAILED: (await make("--wait")).mailing,
      MISSED: (await make("--wait", "--name", "full", "--csv", at("full.csv"))).mailing,
      DRAFT: (await make("--draft", "--name", "draft")).mailing,
      READY: (await make("--draft", "--name", "ready")).mailing,
      LEAVING: (await make("--undo-for", "3600")).mailing,
      ASKED: asked.mailing,
      DIGEST1: asked.approval.digest,
      ASKED2: (await make("--approval", "--name", "second")).mailing,
      GOING: (await ofLater("going")).mailing,
      STOPPED: stopped.mailing,
      LATER: (await ofLater("later")).mailing,
    };
  }

  const run = (name: string, words: readonly string[], settings: Record<string, string> = {}, isTerminal = false) =>
    runProgram([...name.split(" "), ...words], { ...env, ...settings }, isTerminal);
  const filledIn = (words: readonly string[]): readonly string[] => words.map((word) => places[word] ?? word);
  const expectFailure = ({ code, out, err }: Outcome, words: RegExp): void => {
    expect({ code, out }).to.deep.equal({ code: 1, out: "" });
    expect(err)
      .to.match(words)
      .and.not.match(/\n {4}at |^Failed:/);
  };

  it("is known to this test", async () => {
    const names = (await allCommands()).flatMap(({ name, isGroup }) =>
      isGroup || withOwnTests.includes(name) ? [] : [name],
    );
    expect(Object.keys(calls)).to.have.members(names);
  });

  describe("says that there is no service, that", () => {
    for (const [name, { words }] of needing("service")) {
      it(`waybill ${name} needs`, async () => {
        // `send` is patient: a service that is about to be restarted is no reason to give up a mailing.
        const patient = name === "send" ? ["--dry-run"] : [];
        const outcome = await run(name, [...filledIn(words), ...patient], { WAYBILL_URL: "http://127.0.0.1:1" });
        expectFailure(outcome, /Nothing answers at http:\/\/127\.0\.0\.1:1\b.*WAYBILL_URL/);
      });
    }
  });

  describe("says that the key is wrong, with which", () => {
    for (const [name, { words }] of needing("service")) {
      it(`waybill ${name} asks`, async () => {
        expectFailure(await run(name, filledIn(words), { WAYBILL_KEY: "wrong" }), /WAYBILL_KEY/);
      });
    }
  });

  describe("says that NATS is away, that", () => {
    for (const [name, { words }] of needing("nats", "servers")) {
      it(`waybill ${name} needs`, async () => {
        const outcome = await run(name, filledIn(words), { NATS_URL: "nats://127.0.0.1:1", COMMAND_PATIENCE: "0" });
        expectFailure(outcome, /NATS cannot be reached at nats:\/\/127\.0\.0\.1:1: .*\nCheck NATS_URL/);
      });
    }
  });

  describe("says that the database is away, that", () => {
    for (const [name, { words }] of needing("servers")) {
      it(`waybill ${name} needs`, async () => {
        const outcome = await run(name, filledIn(words), { MYSQL_URL: "mysql://root@127.0.0.1:1/x" });
        expectFailure(outcome, /The database cannot be reached at 127\.0\.0\.1:1: ECONNREFUSED\nCheck MYSQL_URL/);
      });
    }
  });

  describe("says that there is no such job, mailing or schedule, of which", () => {
    for (const [name, { words }] of needing("service", "nats")) {
      const ofJob = words.map((word) => (ids.includes(word) ? nobody : word));
      if (!ofJob.includes(nobody)) continue;
      it(`waybill ${name} is asked`, async () => {
        expectFailure(await run(name, filledIn(ofJob)), /There is no (job|mailing|schedule)/);
      });
    }
  });

  describe("does its work, and prints nothing on standard output but JSON, as", () => {
    for (const [name, { words }] of Object.entries(calls)) {
      it(`waybill ${name}`, async () => {
        const takesJson = (await allCommands())
          .find((known) => known.name === name)
          ?.options.some(({ long }) => long === "--json");
        const { code, out, err } = await run(name, [...filledIn(words), ...(takesJson ? ["--json"] : [])]);
        expect(code, err).to.equal(0);
        expect(out).not.to.equal("");
        for (const line of out.split("\n")) expect(() => JSON.parse(line), line).not.to.throw();
        expect(err).not.to.match(/\r|\[#/);
      });
    }
  });

  it("draws a bar on a terminal, and plain lines elsewhere", async () => {
    const words = (id: string) => filledIn([...(calls["send"]?.words ?? []), "--id", id]);
    expect((await run("send", words("third"), {}, true)).err).to.match(/\r\[#{24}\] 1 of 1 recipients uploaded/);
    expect((await run("send", words("fourth"))).err)
      .to.match(/^1 of 1 recipients uploaded, /m)
      .and.not.match(/\r|\[#/);
  });

  it("says where scopes come from, if its key lacks one", async () => {
    const weak = JSON.parse((await run("keys create", ["--tenant", "default", "--scopes", "jobs:read", "--json"])).out);
    // Every instance knows a new key within a second.
    await eventually(async () => {
      const outcome = await run("routes list", ["--key", weak.key]);
      expectFailure(outcome, /The API key lacks the scope admin\. .*keys create --scopes/);
    });
  });

  it("acts on several jobs, and says of each that it cannot act on why", async () => {
    const [first, second] = await Promise.all([0, 1].map(() => makeWaiting()));
    const { code, out, err } = await run("jobs cancel", [first ?? "", nobody, second ?? "", "--json"]);
    expect(code).to.equal(1);
    expect(out.split("\n").map((line) => JSON.parse(line).status)).to.deep.equal(["cancelled", "cancelled"]);
    expect(err).to.match(new RegExp(`^${nobody}: There is no job`));
  });

  async function makeWaiting(): Promise<string> {
    const headers = { Authorization: `Bearer ${env["WAYBILL_KEY"]}`, "Content-Type": "application/json" };
    const later = { subject: "S", body: "B", recipients: ["a@example.com"], scheduledAt: "2099-01-01T00:00:00Z" };
    const answer = await fetch(`${service.url}/api/jobs`, { method: "POST", headers, body: JSON.stringify(later) });
    return ((await answer.json()) as { jobId: string }).jobId;
  }

  it("hands over evidence that holds without the service, and not once it was altered", async () => {
    const { out } = await run("jobs evidence", filledIn(["DONE"]));
    const [whole, altered] = [join(stage.folder, "job.ndjson"), join(stage.folder, "altered.ndjson")];
    await writeFile(whole, `${out}\n`);
    await writeFile(altered, `${out.replace("ada@example.com", "eva@example.com")}\n`);
    const without = { NATS_URL: "nats://127.0.0.1:1", WAYBILL_URL: "http://127.0.0.1:1" };
    expect((await run("verify", [whole], without)).code).to.equal(0);
    expect((await run("verify", [altered], without)).code).to.equal(1);
  });

  for (const [what, words, said, code] of [
    ["a CSV that is not there", ["--csv", "/none.csv"], /^\/none\.csv cannot be read: there is no such file/, 2],
    ["a letter that is not there", ["--text", "/none.txt"], /^\/none\.txt cannot be read: there is no such file/, 2],
    ["a folder for a CSV", ["--csv", "/"], /^\/ cannot be read: it is a folder/, 1],
  ] as const) {
    it(`says what is wrong with ${what}`, async () => {
      const outcome = await run("send", [...filledIn(calls["send"]?.words ?? []), ...words]);
      expect([outcome.code, outcome.out]).to.deep.equal([code, ""]);
      expect(outcome.err).to.match(said);
    });
  }

  it("says which folder for an export is missing, and leaves one that was written whole", async () => {
    const nowhere = await run("log export", ["/none/log.ndjson"]);
    expectFailure(nowhere, /^\/none\/log\.ndjson cannot be written: there is no such file or folder/m);
    const [path = ""] = filledIn(["EXPORTED"]);
    const { out } = await run("log export", [path, "--json"]);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(JSON.parse(out)).to.deep.equal({ file: path, messages: lines.length - 1 });
  });

  it("says that there is no log where the service has never run", async () => {
    const settings = { NATS_PREFIX: `${stage.nats.prefix}none` };
    expectFailure(await run("log export", filledIn(["EXPORTED"]), settings), /There is no log here yet/);
  });
});
