import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { lockDataDir } from "../../src/standalone/data-dir-lock.ts";
import { failureOf } from "../support/failure-of.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("a lock on a data folder", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("is held by one of many that ask at once, and can be had again when it is given back", async () => {
    const asked = await Promise.allSettled(Array.from({ length: 8 }, () => lockDataDir(folder)));
    const held = asked.filter((result) => result.status === "fulfilled");
    expect(held).to.have.length(1);
    await held[0]?.value.release();
    await (await lockDataDir(folder)).release();
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("is refused with the name of the folder and the process that holds it", async () => {
    const lock = await lockDataDir(folder);
    const { message } = await failureOf(lockDataDir(folder));
    expect(message).to.contain(folder).and.contain(`process ${process.pid}`);
    await lock.release();
  });

  it("is taken over from a process that is gone, also where its id is in use again", async () => {
    for (const left of ['{"pid":999999999,"startedAt":"1"}', `{"pid":${process.pid},"startedAt":"1"}`]) {
      await writeFile(join(folder, "lock"), left);
      await (await lockDataDir(folder)).release();
    }
  });

  it("is taken over where it is not a valid lock", async () => {
    for (const left of ["", "{", "null", '{"pid":"1"}']) {
      await writeFile(join(folder, "lock"), left);
      await (await lockDataDir(folder)).release();
    }
  });
});
