import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { expect } from "chai";
import { homeFolder, userName } from "../../src/process/user.ts";

describe("A process whose user id no user of the system has, as in a container", () => {
  const { homedir, userInfo } = os;
  const unknown = (): never => {
    throw new Error("uv_os_get_passwd returned ENOENT (no such file or directory)");
  };
  const set = (some: Partial<typeof os>): void => {
    Object.assign(os, some);
    syncBuiltinESMExports();
  };

  before(() => set({ homedir: unknown, userInfo: unknown }));
  after(() => set({ homedir, userInfo }));

  it("goes by that id", () => {
    expect(userName()).to.equal(String(process.getuid?.()));
  });

  it("has the root as its home, which Docker gives it as well", () => {
    expect(homeFolder()).to.equal("/");
  });
});
