import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { CommandFailed } from "../../src/cli/command-failed.ts";
import { addJobsCommands } from "../../src/cli/jobs.ts";
import { addKeyCommands } from "../../src/cli/keys.ts";
import { addMigrateCommand } from "../../src/cli/migrate.ts";
import { addRebuildCommand } from "../../src/cli/rebuild.ts";
import { addSealCommands } from "../../src/cli/seals.ts";
import { addWebhookCommands } from "../../src/cli/webhooks.ts";
import { createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { settingsFor } from "../support/waybill.ts";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const commands = [
  addJobsCommands,
  addKeyCommands,
  addMigrateCommand,
  addRebuildCommand,
  addSealCommands,
  addWebhookCommands,
];

describe("A command that cannot be taken back", () => {
  let nats: TestNats;
  let database: TestDatabase;
  let api: RunningApi;
  let env: Readonly<Record<string, string>>;
  let keyId: string;

  before(async () => {
    [nats, database, api] = await Promise.all([startNats(), freshDatabase(), startApi()]);
    env = {
      ...settingsFor({ nats, mysqlUrl: database.url, smtpUrl: "smtp://127.0.0.1:1" }),
      WAYBILL_URL: api.url,
    };
    await createCommandLine(commands, env).run("migrate");
    const made = await createCommandLine(commands, env).run("keys", "create", "--tenant", "acme", "--json");
    keyId = JSON.parse(made.printed.join("")).id;
  });
  after(async () => {
    await api?.close();
    await database?.drop();
    await nats?.cleanUp();
  });

  /** A command line at a terminal at which each question gets the same answer. */
  const atTerminal = (answer: string) => {
    const questions: string[] = [];
    const ask = async (question: string): Promise<string> => {
      questions.push(question);
      return answer;
    };
    return { questions, ...createCommandLine(commands, env, { isTerminal: true, ask }) };
  };
  const createJobs = async (count: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let one = 0; one < count; one++) ids.push((await api.ask("POST", "/api/jobs", { body: mailing })).body.jobId);
    return ids;
  };
  const cancellations = async (ids: readonly string[]): Promise<number> => {
    const histories = await Promise.all(ids.map((id) => api.ask("GET", `/api/jobs/${id}/events`)));
    return histories.filter(({ body }) => JSON.stringify(body).includes("JobCancelled")).length;
  };

  for (const [question, ...words] of [
    [/^Revoke key \w+ of tenant acme permanently\? Type yes to do it: $/, "keys", "revoke", "KEY"],
    [/^Seal with a new key/, "seals", "rotate"],
    [/^Forget the remembered seal/, "seals", "accept"],
    [/tenant default with a new secret\?/, "webhooks", "secret", "--rotate"],
    [/^Rebuild jobs\?/, "rebuild", "jobs"],
    [/^Restore the old tables of all read models\?/, "rebuild", "--rollback"],
    [/^Drop the old tables of jobs\?/, "rebuild", "jobs", "--confirm"],
  ] as const) {
    it(`is done at a terminal only after a yes: waybill ${words.join(" ")}`, async () => {
      for (const answer of ["", "y", "no"]) {
        const { run, questions, last } = atTerminal(answer);
        const failure = await failureOf(run(...words.map((word) => (word === "KEY" ? keyId : word))));
        expect(failure).to.be.instanceOf(CommandFailed);
        expect(failure.message).to.equal("Nothing was done.");
        expect(questions).to.have.length(1);
        expect(questions[0]).to.match(question);
        expect(last().printed).to.deep.equal([]);
      }
    });
  }

  it("is done after a yes, and without a question with --yes or without a terminal", async () => {
    const { run, questions } = atTerminal("yes");
    const [first = ""] = (await run("webhooks", "secret", "--rotate")).printed;
    expect(questions).to.have.length(1);
    const [second] = (await run("webhooks", "secret", "--rotate", "--yes")).printed;
    expect(questions).to.have.length(1);
    const [third] = (await createCommandLine(commands, env).run("webhooks", "secret", "--rotate")).printed;
    expect(new Set([first, second, third]).size).to.equal(3);
  });

  it("tells that WEBHOOK_SECRET of the service, which this command may not have, signs in place of what it prints", async () => {
    const { run } = createCommandLine(commands, env);
    expect((await run("webhooks", "secret")).told.join("\n")).to.include("WEBHOOK_SECRET");
    expect((await run("webhooks", "secret", "--tenant", "acme")).told.join("\n")).not.to.include("WEBHOOK_SECRET");
    const given = createCommandLine(commands, { ...env, WEBHOOK_SECRET: `whsec_${"A".repeat(32)}` });
    expect((await given.run("webhooks", "secret")).told.join("\n")).not.to.include("WEBHOOK_SECRET");
  });

  it("is done to many jobs only after their number is typed", async () => {
    const ids = await createJobs(21);
    const { run, questions } = atTerminal("yes");
    expect((await failureOf(run("jobs", "cancel", ...ids))).message).to.equal("Nothing was done.");
    expect(questions).to.deep.equal([`cancel 21 jobs of ${api.url}? Type 21 to do it: `]);
    expect(await cancellations(ids)).to.equal(0);
    await atTerminal("21").run("jobs", "cancel", ...ids);
    expect(await cancellations(ids)).to.equal(21);
  });

  it("is done to one job as it was typed, and to several by a script", async () => {
    const ids = await createJobs(3);
    const { run, questions } = atTerminal("");
    await run("jobs", "cancel", ids[0] ?? "");
    expect(questions).to.deep.equal([]);
    await createCommandLine(commands, env).run("jobs", "cancel", ...ids.slice(1));
    expect(await cancellations(ids)).to.equal(3);
  });

  it("asks on a real terminal, and does not wait without one", async () => {
    const line = [process.execPath, main, "keys", "revoke", keyId].map((word) => `'${word}'`).join(" ");
    const start = (program: string, args: readonly string[]) => {
      const child = spawn(program, args, {
        env: { PATH: process.env["PATH"], ...env },
        stdio: ["pipe", "pipe", "pipe"],
      });
      const said: string[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => said.push(String(chunk)));
      return { child, said: () => said.join(""), exited: once(child, "close").then(([code]) => code as number | null) };
    };
    const answered = async (answer: string) => {
      const { child, said, exited } = start("script", ["-qec", line, "/dev/null"]);
      await eventually(async () => expect(said()).to.include("Type yes to do it: "), 30_000);
      child.stdin.write(answer);
      return { code: await exited, said: said() };
    };
    // Enter alone, and Ctrl-C.
    for (const answer of ["\r", "\x03"]) {
      const { code, said } = await answered(answer);
      expect(code, said).not.to.equal(0);
      expect(said).not.to.include("is revoked");
      expect(said).to.include("Nothing was done.");
    }
    expect((await answered("yes\r")).said).to.include(`Key ${keyId} of tenant acme is revoked.`);
    // Nothing is written into the pipe, so a question would never be answered.
    const { said, exited } = start(process.execPath, [main, "keys", "revoke", keyId]);
    expect(await exited, said()).to.equal(0);
  });
});
