import { expect } from "chai";
import { allCommands, type KnownCommand, runProgram } from "../support/command-tree.ts";

const commands = await allCommands();
const leaves = commands.filter(({ isGroup }) => !isGroup);
const helpOf = async (name: string): Promise<string> => (await runProgram([...name.split(" "), "--help"])).out;

/** They print lines of JSON or a script whatever is asked, or run until they are stopped. */
const withoutJson = ["start", "completion", "events", "jobs evidence", "mailings evidence", "mailings events"];

/** The command lines in a help text, each from "waybill" to where the shell or a remark goes on. */
const linesIn = (help: string): readonly string[] =>
  (help.split("Examples:\n")[1] ?? "")
    .split("\n\n")[0]
    ?.split(/\n|&&/)
    .flatMap((line) => /(?<![\w/])waybill .*/.exec(line)?.[0].split(/ {2,}| > /)[0] ?? []) ?? [];

/** Words as a shell would pass them on. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word).slice(1);

function commandOf(words: readonly string[]): { readonly command: KnownCommand; readonly rest: readonly string[] } {
  const command = leaves.find(({ name }) => name.split(" ").every((part, index) => words[index] === part));
  if (command === undefined) throw new Error(`There is no command ${words.join(" ")}`);
  return { command, rest: words.slice(command.name.split(" ").length) };
}

/** What an example says that the command does not take, or leaves out that it needs. */
function faultsOf(line: string): readonly string[] {
  const { command, rest } = commandOf(wordsOf(line));
  const given: string[] = [];
  const used = new Set<string>();
  const faults: string[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    const option = command.options.find(({ long }) => long === word);
    if (!word.startsWith("--")) given.push(word);
    else if (option === undefined) faults.push(`${word} is unknown`);
    else {
      used.add(word);
      if (option.required) at += 1;
    }
  }
  const wanted = command.parameters.filter(({ required }) => required).length;
  const mayHave = command.parameters.some(({ variadic }) => variadic) ? given.length : command.parameters.length;
  if (given.length < wanted || given.length > mayHave) faults.push(`${given.length} arguments`);
  for (const { long, mandatory } of command.options) {
    if (mandatory && !used.has(long ?? "")) faults.push(`${long} is missing`);
  }
  return faults;
}

describe("Every command of the program", () => {
  it("is found by walking the program", () => {
    expect(leaves.map(({ name }) => name)).to.include.members(["start", "send", "jobs retry", "log export"]);
  });

  it("says its release", async () => {
    const { code, out } = await runProgram(["--version"]);
    expect([code, /^\d+\.\d+\.\d+$/.test(out)]).to.deep.equal([0, true]);
  });

  it("is named in the help of the program, or of its group", async () => {
    const program = (await runProgram(["--help"])).out;
    for (const { name } of commands) {
      const [own = "", group] = name.split(" ").reverse();
      expect(group === undefined ? program : await helpOf(group), name).to.match(new RegExp(`^ {2}${own}\\b`, "m"));
    }
  });

  it("shows in the program's own help how a mailing is sent, watched, tried again and proved", async () => {
    const lines = linesIn((await runProgram(["--help"])).out);
    expect(lines.flatMap((line) => faultsOf(line).map((fault) => `${line}: ${fault}`))).to.deep.equal([]);
    const shown = new Set(lines.map((line) => commandOf(wordsOf(line)).command.name));
    expect([...shown]).to.include.members(["send", "mailings watch", "mailings retry", "mailings evidence", "verify"]);
  });

  for (const { name, description, options, parameters, isGroup } of commands) {
    describe(`waybill ${name}`, () => {
      it("says what it does, and what each of its words means", () => {
        expect(description).to.match(/^\S.{5,}/);
        for (const option of options) expect(option.description, option.flags).not.to.equal("");
        for (const parameter of parameters) expect(parameter.description, parameter.name()).not.to.equal("");
      });

      it("refuses an option that it does not have, with exit code 2", async () => {
        // What is missing would be said first.
        const needed = options.flatMap(({ long, mandatory }) => (mandatory ? [long ?? "", "x"] : []));
        const { code, out, err } = await runProgram([...name.split(" "), ...needed, "--no-such-option"]);
        expect({ code, out }).to.deep.equal({ code: 2, out: "" });
        expect(err).to.include("--no-such-option").and.include("--help").and.not.include("\n    at ");
      });

      if (isGroup) return;

      it("has an example that it would understand, and tells its exit codes", async () => {
        const help = await helpOf(name);
        const own = linesIn(help).filter((line) => commandOf(wordsOf(line)).command.name === name);
        expect(own, "examples of its own").not.to.have.lengthOf(0);
        expect(linesIn(help).flatMap((line) => faultsOf(line).map((fault) => `${line}: ${fault}`))).to.deep.equal([]);
        expect(help).to.match(/\nExit code: 0 .+, 1 .+, 2 wrong usage\.$/);
      });

      it("takes --json unless it prints nothing else", () => {
        const hasJson = options.some(({ long }) => long === "--json");
        expect(hasJson).to.equal(!withoutJson.includes(name));
      });

      if (parameters.some(({ required }) => required) || options.some(({ mandatory }) => mandatory)) {
        it("says what is missing, with exit code 2", async () => {
          const { code, out, err } = await runProgram(name.split(" "));
          expect({ code, out }).to.deep.equal({ code: 2, out: "" });
          expect(err)
            .to.match(/missing required argument|required option/)
            .and.include("--help");
        });
      }
    });
  }
});
