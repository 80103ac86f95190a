import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { schedulesProjector } from "../../projections/schedules/projector.ts";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addScheduleCommands } from "../../src/cli/schedules.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { createCommandLine } from "../support/cli.ts";
import { failureOf } from "../support/failure-of.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const yearly = {
  name: "Yearly",
  cron: "0 9 1 1 *",
  job: { subject: "S", body: "B", recipients: ["ada@example.com"] },
};

describe("The commands for schedules", () => {
  let service: ApiWithReadSide;
  let folder: string;
  let id: string;

  before(async () => {
    service = await startApiWithReadSide();
    service.readSide.startProjector(schedulesProjector);
    folder = await temporaryFolder();
    await writeFile(join(folder, "yearly.json"), JSON.stringify(yearly));
    await writeFile(join(folder, "broken.json"), "{");
  });
  after(() => service.close());

  const run = (...args: readonly string[]) =>
    createCommandLine([addScheduleCommands], { WAYBILL_URL: service.api.url }).run("schedules", ...args);
  const lines = async (...args: readonly string[]) => (await run(...args)).printed;
  const create = (...args: readonly string[]) => lines("create", join(folder, "yearly.json"), ...args);

  it("create one of a file, once for an id", async () => {
    const [first = "", ...facts] = await create("--id", "yearly");
    id = first;
    expect(facts).to.include.members(["  name      Yearly", "  status    active", "  cron      0 9 1 1 *"]);
    expect(facts.filter((line) => line.startsWith("  next"))).to.have.lengthOf(5);
    expect((await create("--id", "yearly"))[0]).to.equal(id);
    expect(JSON.parse((await create("--id", "yearly", "--json"))[0] ?? "").makes).to.equal("job");
  });

  it("list and show it", async () => {
    const [head, row] = await lines("list");
    expect(head).to.match(/^id\s+name\s+status\s+cron\s+timeZone\s+next$/);
    expect(row).to.match(new RegExp(`^${id}\\s+Yearly\\s+active\\s+0 9 1 1 \\*\\s+UTC\\s+\\d{4}-01-01T09:00`));
    expect((await lines("show", id))[0]).to.equal(id);
    expect(JSON.parse((await lines("list", "--json"))[0] ?? "")).to.have.lengthOf(1);
  });

  it("pause, resume and delete it", async () => {
    expect(await lines("pause", id, "--reason", "holidays")).to.deep.equal([`${id} is paused`]);
    expect(await lines("resume", id)).to.deep.equal([`${id} is active`]);
    expect(await lines("delete", id)).to.deep.equal([`${id} is deleted`]);
  });

  it("say that none of its times has come", async () => {
    expect(await lines("firings", id)).to.deep.equal([]);
  });

  it("say what is wrong with what they were given", async () => {
    expect(await failureOf(lines("create", join(folder, "broken.json")))).to.be.instanceOf(WrongUsage);
    expect(await failureOf(lines("create", join(folder, "missing.json")))).to.be.instanceOf(WrongUsage);
    expect(await failureOf(lines("show", "nothing"))).to.be.instanceOf(CommandFailed);
  });
});
