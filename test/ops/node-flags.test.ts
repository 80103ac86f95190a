import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { nodeFlags } from "../support/node-flags.ts";

const root = new URL("../../", import.meta.url);

/** Each way in which the program is started, and the text in which it stands. */
const starts: readonly (readonly [name: string, file: string, start: RegExp])[] = [
  ["an installed package", "src/main.ts", /^#!\/usr\/bin\/env -S node(.*)$/m],
  ["a container", "Dockerfile", /^ENTRYPOINT \["node",(.*)"dist\/src\/main\.js"\]$/m],
  ["a unit of systemd", "ops/guides/operator.md", /^ExecStart=\/usr\/bin\/node(.*) dist\/src\/main\.js/m],
];

describe("The flags of Node", () => {
  it("are some", () => {
    expect(nodeFlags).to.include.members(["--min-semi-space-size=16", "--max-semi-space-size=16"]);
  });

  for (const [name, file, start] of starts) {
    it(`are those of npm start for ${name}`, async () => {
      const [, said = ""] = start.exec(await readFile(new URL(file, root), "utf8")) ?? [];
      expect(said.match(/--[\w-]+(=\w+)?/g)).to.deep.equal(nodeFlags);
    });
  }
});
