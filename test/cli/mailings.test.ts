import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { CommandFailed } from "../../src/cli/command-failed.ts";
import { addMailingsCommands } from "../../src/cli/mailings.ts";
import { createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

describe("The commands for mailings", () => {
  let stage: Stage;
  let service: Waybill;

  before(async () => {
    stage = await setStage();
    service = await startWaybill(stage.surroundings);
    stage.mailServer.answerRecipient("full@example.com", { code: 552, text: "5.2.2 Mailbox full" });
    await writeFile(join(stage.folder, "news.txt"), "Hello {{ name }}");
    await writeFile(join(stage.folder, "readers.csv"), "email,name\nada@example.com,Ada\nfull@example.com,Full\n");
  });
  after(async () => {
    await service?.stop();
    await stage?.cleanUp();
  });

  const run = (...args: readonly string[]) =>
    createCommandLine([addMailingsCommands], { WAYBILL_URL: service.url }).run("mailings", ...args);
  const lines = async (...args: readonly string[]) => (await run(...args)).printed;
  const create = async (...more: readonly string[]): Promise<string> =>
    (await lines("create", "--subject", "News", "--text", join(stage.folder, "news.txt"), ...more))[0] ?? "";
  const csv = () => ["--csv", join(stage.folder, "readers.csv")];

  it("make one step by step, mail it, and say how it went", async () => {
    const id = await create("--name", "Steps", "--id", "steps");
    expect(await create("--name", "Steps", "--id", "steps")).to.equal(id);
    expect(await lines("import", id, ...csv())).to.deep.equal([
      "2 recipients added, 0 were in the mailing or the file before.",
    ]);
    expect(await lines("import", id, ...csv())).to.deep.equal([
      "0 recipients added, 2 were in the mailing or the file before.",
    ]);
    expect((await lines("explain", id))[0]).to.equal("draft: The mailing is a draft with 1 part.");
    await run("test", id, "me@example.com", "--variables", '{"name":"Me"}');
    await eventually(() => expect(stage.mailServer.mails.flatMap(({ to }) => to)).to.deep.equal(["me@example.com"]));

    expect((await lines("start", id))[0]).to.match(new RegExp(`^${id} {2}processing `));
    const failure = await failureOf(run("watch", id));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.equal(
      `The mailing is completed-with-failures.\nNot reached: waybill mailings recipients ${id} --status failed\nRetry those: waybill mailings retry ${id}`,
    );
    await eventually(async () => {
      expect((await lines("recipients", id, "--status", "failed")).join("")).to.match(
        /^failed .*full@example\.com +552/,
      );
    });
    expect((await lines("logs", id, "--email", "ada@example.com")).join("")).to.match(
      /success +1\.1 +ada@example\.com/,
    );
    expect((await lines("parts", id))[1]).to.match(/ completed +1 +1 +2 | failed +1 +1 +2 /);
    expect((await lines("list")).join("\n")).to.match(new RegExp(`^id.*\n${id} +completed-with-failures +1 +1 +2 `));
    expect((await lines("show", id)).join("\n")).to.match(
      /completed-with-failures {2}1 of 1 parts made\n.*1 sent, 1 failed/s,
    );
    const types = (await lines("events", id)).map((line) => JSON.parse(line).type);
    expect([types[0], types.at(-1)]).to.deep.equal(["MailingCreated", "MailingCompleted"]);
    expect(JSON.parse((await lines("evidence", id))[0] ?? "")).to.be.an("object");
    expect((await failureOf(run("import", id, ...csv()))).message).to.include("it takes no more recipients");

    stage.mailServer.answerRecipient("full@example.com", null);
    await run("retry", id, "--scope", "failed");
    expect((await lines("watch", id)).join("\n")).to.match(/completed {2}1 of 1 .*2 sent, 0 failed/s);
  });

  it("take a start back, pause, resume and cancel", async () => {
    const id = await create("--undo-for", "3600");
    await run("import", id, ...csv());
    const statusOf = async (...args: readonly string[]) => JSON.parse((await lines(...args, "--json")).join("")).status;
    expect(await statusOf("start", id, "--scheduled-at", "2099-01-01T00:00:00Z")).to.equal("scheduled");
    expect(await statusOf("undo", id, "--reason", "a typo")).to.equal("draft");
    expect((await lines("explain", id))[0]).to.equal(
      "undone: The start of the mailing was taken back by anonymous: a typo.",
    );
    expect(await statusOf("start", id)).to.equal("scheduled");
    expect(await statusOf("pause", id)).to.equal("paused");
    expect(await statusOf("resume", id)).to.equal("scheduled");
    expect(await statusOf("cancel", id)).to.equal("cancelled");
    expect((await failureOf(run("cancel", id))).message).to.include("cancelled");
  });

  it("start several, and say which of them they cannot", async () => {
    const [empty, ready] = [await create(), await create()];
    await run("import", ready, ...csv());
    const failure = await failureOf(run("start", empty, ready));
    expect(failure.message)
      .to.match(new RegExp(`^${empty}: `))
      .and.not.include(ready);
  });
});
