import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { CommandFailed } from "../../src/cli/command-failed.ts";
import { addMailingsCommands } from "../../src/cli/mailings.ts";
import { addSendCommand } from "../../src/cli/send.ts";
import { openAccess } from "../support/access.ts";
import { createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type MadeKey, storedKey } from "../support/keys.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

describe("waybill send, where mailings need an approval", () => {
  let stage: Stage;
  let service: Waybill;
  let asker: MadeKey;
  let boss: MadeKey;

  before(async () => {
    stage = await setStage();
    const access = await openAccess(stage.nats);
    asker = await storedKey(access.store, { tenant: "default" });
    boss = await storedKey(access.store, { tenant: "default", scopes: ["jobs:read", "jobs:approve"] });
    await access.close();
    service = await startWaybill(stage.surroundings, { APPROVAL_ABOVE: "1" });
    await writeFile(join(stage.folder, "news.txt"), "Hello {{ name }}");
  });
  after(async () => {
    await service?.stop();
    await stage?.cleanUp();
  });

  const as = ({ text }: MadeKey) =>
    createCommandLine([addSendCommand, addMailingsCommands], { WAYBILL_URL: service.url, WAYBILL_KEY: text });
  const letterTo = async (...people: readonly string[]): Promise<readonly string[]> => {
    const csv = join(stage.folder, `${people.join("-")}.csv`);
    await writeFile(csv, ["email,name", ...people.map((name) => `${name}@example.com,${name}`)].join("\n"));
    return ["send", "--subject", "News", "--text", join(stage.folder, "news.txt"), "--csv", csv];
  };
  const mailed = (): readonly string[] => stage.mailServer.mails.flatMap(({ to }) => to);

  it("says that it awaits one, and how another key gives it; then everybody is mailed once", async () => {
    const command = await letterTo("ada", "bob");
    const { printed, told } = await as(asker).run(...command);
    const [id = "", digest = ""] = /(?<=mailings approve )(\S+) --digest (\S+)$/.exec(told.join("\n"))?.slice(1) ?? [];
    expect(printed).to.deep.equal([`Mailing ${id}: 2 recipients, awaiting-approval.`]);
    expect(told).to.include("It starts once another key, with the scope jobs:approve, approves it:");
    // Said again it is the same, and it takes no more recipients.
    const again = JSON.parse((await as(asker).run(...command, "--json")).printed.join(""));
    expect(again).to.deep.include({ mailing: id, isRepeat: true, status: "awaiting-approval" });
    expect(again.approval).to.include({ digest, status: "requested" });

    const waiting = as(asker);
    const waited = waiting.run(...command, "--wait", "--json");
    expect(await failureOf(as(asker).run("mailings", "approve", id, "--digest", digest))).to.be.instanceOf(
      CommandFailed,
    );
    expect(mailed()).to.deep.equal([]);
    await as(boss).run("mailings", "approve", id, "--digest", digest);
    expect(JSON.parse((await waited).printed.join(""))).to.deep.include({ mailing: id, status: "completed" });
    expect([...mailed()].sort()).to.deep.equal(["ada@example.com", "bob@example.com"]);
  });

  it("says that it was rejected, also while it waits, and does not ask again by itself", async () => {
    const command = [...(await letterTo("carol")), "--approval"];
    const waiting = as(asker);
    const waited = failureOf(waiting.run(...command, "--wait"));
    const id = await eventually(() => {
      const [, found] = /mailings approve (\S+)/.exec(waiting.last().told.join("\n")) ?? [];
      if (found === undefined) throw new Error("It does not wait yet.");
      return found;
    });
    await as(boss).run("mailings", "reject", id, "--reason", "not this year");
    const why = `The start of the mailing was rejected by key:${boss.record.id}: not this year.`;
    expect((await waited).message).to.equal(why);
    const failure = await failureOf(as(asker).run(...command));
    expect(failure.message).to.equal(`${why} To start it after all: waybill mailings start ${id}`);
    expect(mailed()).not.to.include("carol@example.com");
  });

  it("needs none below the limit", async () => {
    const { printed } = await as(asker).run(...(await letterTo("dora")), "--wait", "--json");
    expect(JSON.parse(printed.join(""))).to.deep.include({ status: "completed", approval: null });
  });
});
