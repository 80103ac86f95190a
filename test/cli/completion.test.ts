import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { allCommands, runProgram } from "../support/command-tree.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);

describe("The completion for shells", () => {
  let folder: string;
  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => rm(folder, { recursive: true }));

  const scriptFor = async (shell: string): Promise<string> => {
    const { code, out, err } = await runProgram(["completion", shell]);
    expect(code, err).to.equal(0);
    return out;
  };

  /** What bash offers for the last of these words. */
  const offered = async (...words: readonly string[]): Promise<readonly string[]> => {
    const file = join(folder, "completion.bash");
    await writeFile(file, await scriptFor("bash"));
    const asked = `source ${file}; COMP_WORDS=(waybill ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _waybill; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run("bash", ["--norc", "-c", asked]);
    return stdout.split("\n").filter((line) => line !== "");
  };

  it("offers commands, their commands and their options in bash", async () => {
    expect(await offered("ma")).to.deep.equal(["mailings"]);
    expect(await offered("jobs", "re")).to.have.members(["recipients", "resume", "retry"]);
    expect(await offered("jobs", "retry", "--sc")).to.deep.equal(["--scope"]);
    expect(await offered("jobs", "retry", "--pro")).to.deep.equal(["--profile"]);
    expect(await offered("--url", "http://x", "tenants", "")).to.include.members(["list", "set"]);
    expect(await offered("completion", "z")).to.deep.equal(["zsh"]);
    expect(await offered("he")).to.deep.equal(["help"]);
    expect(await offered("help", "jobs", "ret")).to.deep.equal(["retry"]);
  });

  // As zsh offers what is described as options only after a hyphen.
  it("describes commands as commands, and options as options, to zsh", async () => {
    const script = await scriptFor("zsh");
    expect(script).to.include("_describe -o option options || _describe command offered || _files");
    expect(script).to.include(`options=("\${(@M)offered:#--*}") offered=("\${(@)offered:#--*}")`);
  });

  it("leaves the value of an option, a file perhaps, to bash", async () => {
    expect(await offered("send", "--csv", "")).to.deep.equal([]);
  });

  it("names every command and every option for every shell", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await scriptFor(shell);
      for (const { name, options } of await allCommands()) {
        expect(script, `${shell}: ${name}`).to.include(name);
        for (const { long } of options) {
          const word = shell === "fish" ? `-l ${long?.slice(2)}` : (long ?? "");
          expect(script, `${shell}: ${name} ${long}`).to.include(word);
        }
      }
    }
  });

  it("refuses another shell", async () => {
    const { code, err } = await runProgram(["completion", "cmd"]);
    expect(code).to.equal(2);
    expect(err).to.include("bash, zsh, fish");
  });
});
