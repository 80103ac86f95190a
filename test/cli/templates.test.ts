import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addTemplateCommands } from "../../src/cli/templates.ts";
import { createCommandLine } from "../support/cli.ts";
import { failureOf } from "../support/failure-of.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("The commands for templates", () => {
  let api: RunningApi;
  let file: string;

  before(async () => {
    api = await startApi();
    file = join(await temporaryFolder(), "welcome.html");
    await writeFile(file, "<p>Hello {{ name }}</p>");
  });
  after(() => api.close());

  const run = (...args: readonly string[]) =>
    createCommandLine([addTemplateCommands], { WAYBILL_URL: api.url }).run("templates", ...args);
  const lines = async (...args: readonly string[]) => (await run(...args)).printed;
  const put = (subject: string) => lines("put", "welcome", "--subject", subject, "--html", file);

  it("store a letter, and say which version it is, also when it is repeated", async () => {
    expect(await put("Welcome, {{ name }}")).to.deep.equal(["welcome@1"]);
    expect(await put("Hello, {{ name }}")).to.deep.equal(["welcome@2"]);
    expect(await put("Welcome, {{ name }}")).to.deep.equal(["welcome@1, stored before"]);
  });

  it("list and show them", async () => {
    expect((await lines("list"))[1]).to.match(/^welcome\s+2\s/);
    const shown = await lines("show", "welcome");
    expect(shown[0]).to.equal("welcome@2");
    expect(shown.join("\n")).to.include("Hello, {{ name }}");
    expect(JSON.parse((await lines("show", "welcome", "--json")).join("\n")).versions).to.have.lengthOf(2);
  });

  it("fill one in, its latest version or another", async () => {
    const variables = ["--variables", '{"name":"Ada"}'];
    expect(await lines("preview", "welcome", ...variables)).to.deep.equal(["Subject: Hello, Ada", "", "Hello Ada"]);
    expect((await lines("preview", "welcome", "--template-version", "1", ...variables))[0]).to.equal(
      "Subject: Welcome, Ada",
    );
  });

  it("say what is wrong with what they were given", async () => {
    expect(await failureOf(lines("put", "welcome", "--subject", "Hello"))).to.be.instanceOf(WrongUsage);
    expect(await failureOf(lines("preview", "welcome", "--variables", "{"))).to.be.instanceOf(WrongUsage);
    const missing = await failureOf(lines("preview", "welcome"));
    expect(missing).to.be.instanceOf(WrongUsage);
    expect((missing as Error).message).to.include("variables cannot fill in");
    expect(await failureOf(lines("show", "nothing"))).to.be.instanceOf(CommandFailed);
  });
});
