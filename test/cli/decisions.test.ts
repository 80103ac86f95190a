import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Json } from "../../src/cli/client/service.ts";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addDeadLetterCommands } from "../../src/cli/dead-letters.ts";
import { addStatsCommand } from "../../src/cli/stats.ts";
import { addSuppressionCommands } from "../../src/cli/suppressions.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

describe("The commands for dead letters, suppressions and figures", () => {
  let stage: Stage;
  let service: Waybill;
  let client: ApiClient;

  before(async () => {
    stage = await setStage();
    service = await startWaybill(stage.surroundings);
    client = createApiClient(service.url);
  });
  after(async () => {
    await service?.stop();
    await stage?.cleanUp();
  });

  const run = (...args: readonly string[]) =>
    createCommandLine([addDeadLetterCommands, addSuppressionCommands, addStatsCommand], {
      WAYBILL_URL: service.url,
    }).run(...args);
  const lines = async (...args: readonly string[]) => (await run(...args)).printed;
  const json = async (...args: readonly string[]) => JSON.parse((await lines(...args, "--json"))[0] ?? "");

  /** Ids of the open dead letters, of which there are so many. */
  const failJobs = async (count: number): Promise<readonly string[]> => {
    stage.mailServer.answerRecipient("none@example.com", { code: 554, text: "5.7.1 not today" });
    for (let job = 0; job < count; job += 1) {
      await client.ended(await client.create({ subject: "News", body: "text", recipients: ["none@example.com"] }));
    }
    return await eventually(async () => {
      const found: readonly { readonly id: string }[] = await json("dead-letters", "list");
      expect(found).to.have.length(count);
      return found.map(({ id }) => id);
    });
  };

  it("list dead letters with the reason, run one again, and set another one aside", async () => {
    const [first = "", second = ""] = await failJobs(2);
    const table = await lines("dead-letters", "list");
    expect(table[0]).to.match(/^id +status +failedAt +failed +subject +error$/);
    expect(table.slice(1).join("\n")).to.include(first).and.include(second).and.include("News");
    expect(table[1]).to.match(/ open .* 1 +News +\S+: \S/);

    expect((await lines("dead-letters", "requeue", first, "--reason", "again"))[0]).to.match(
      / runs again as job \S{36}$/,
    );
    expect(await lines("dead-letters", "ignore", second, "--reason", "over")).to.deep.equal([`${second} is ignored`]);
    const failure = await failureOf(run("dead-letters", "ignore", first, "unknown", "--reason", "other"));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.match(/^\S+: .+\nunknown: .+$/);
    const all: readonly { readonly id: string; readonly status: string }[] = await json(
      "dead-letters",
      "list",
      "--status",
      "all",
    );
    expect(Object.fromEntries(all.map(({ id, status }) => [id, status]))).to.include({
      [first]: "requeued",
      [second]: "ignored",
    });
  });

  it("decide about all dead letters of a cause, as many as were counted", async () => {
    stage.mailServer.answerRecipient("late@example.com", { code: 554, text: "5.7.1 not at night" });
    for (let job = 0; job < 2; job += 1) {
      await client.ended(await client.create({ subject: "News", body: "text", recipients: ["late@example.com"] }));
    }
    const { cause, code } = await eventually(async () => {
      const causes: readonly Json[] = await json("dead-letters", "causes");
      const found = causes.find((one) => one.cause.includes("not at night"));
      expect(found).to.include({ letters: 2 });
      return found;
    });
    expect((await lines("dead-letters", "causes"))[0]).to.match(/^letters +code +cause$/);

    const named = ["--cause", cause] as const;
    expect(await lines("dead-letters", "requeue", ...named, "--dry-run")).to.deep.equal(["2 dead letters match."]);
    expect(await lines("dead-letters", "ignore", ...named, "--code", code, "--reason", "over")).to.deep.equal([
      "ignore: done for 2 dead letters.",
    ]);
    const ignored: readonly Json[] = await json("dead-letters", "list", "--status", "ignored");
    expect(ignored.filter(({ error }) => error.code === code)).to.have.length.at.least(2);
    expect((await run("dead-letters", "requeue", ...named)).told).to.deep.equal([
      "There are no such dead letters to requeue.",
    ]);
    const id = ignored[0]?.id;
    for (const words of [[], [id, ...named], [id, "--dry-run"]]) {
      expect(await failureOf(run("dead-letters", "requeue", ...words))).to.be.instanceOf(WrongUsage);
    }
  });

  it("keep the list of addresses that are never mailed", async () => {
    expect(await lines("suppressions", "add", "ada@example.com", "--reason", "complaint")).to.deep.equal([
      "ada@example.com is on the list (complaint).",
    ]);
    const file = join(stage.folder, "list.csv");
    await writeFile(file, "email\nada@example.com\nbob@example.com\n");
    expect(await lines("suppressions", "import", file)).to.deep.equal(["1 addresses added, 1 were on the list."]);
    const table = await lines("suppressions", "list");
    expect(table[0]).to.match(/^email +reason +createdAt$/);
    expect(table.slice(1).map((line) => line.split(/ +/).slice(0, 2))).to.deep.equal([
      ["ada@example.com", "complaint"],
      ["bob@example.com", "manual"],
    ]);
    expect(await lines("suppressions", "remove", "bob@example.com")).to.deep.equal([
      "bob@example.com may be mailed again.",
    ]);
    expect(await json("suppressions", "list", "--email", "bob@example.com")).to.deep.equal([]);
    expect((await lines("suppressions", "export")).map((line) => line.split(",")[0])).to.deep.equal([
      "email",
      "ada@example.com",
    ]);
    expect(await failureOf(run("suppressions", "remove", "bob@example.com"))).to.be.instanceOf(CommandFailed);
  });

  it("show the figures of the service", async () => {
    const text = (await lines("stats")).join("\n");
    expect(text).to.match(/^status +jobs\npending +0$/m);
    expect(text).to.match(/^priority +waiting +oldest$/m);
    expect(text).to.match(/^per minute +5 min +60 min$/m);
    expect(text).to.match(/^[\d.]+ % of the jobs failed in the last hour$/m);
    expect(await json("stats", "--all")).to.have.nested.property("jobs.failed");
    await eventually(async () => {
      const [head, first] = await lines("stats", "--by", "receiver");
      expect(head).to.match(/^receiver +sent +deferred +failed/);
      expect(first).to.match(/^example\.com +\d+ +0 +\d+ .*\d\.\d\d/);
    });
    expect(await json("stats", "--by", "route")).to.have.nested.property("rates[0].name", "default");
  });
});
