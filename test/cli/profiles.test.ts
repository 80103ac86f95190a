import { chmod, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { type Outcome, runProgram } from "../support/command-tree.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A service that says which key it was asked with. */
async function startEcho(name: string): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(({ headers }, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ data: [{ asked: name, key: headers.authorization ?? null }], nextCursor: null }));
  });
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe("Which service a command asks", () => {
  let folder: string;
  let profileFile: string;
  let here: Awaited<ReturnType<typeof startEcho>>;
  let there: Awaited<ReturnType<typeof startEcho>>;

  const run = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
    runProgram(words, env, false, () => {}, { profileFile });
  const asked = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { code, out, err } = await run(["suppressions", "list", "--json", ...words], env);
    expect(code, err).to.equal(0);
    return JSON.parse(out)[0];
  };

  before(async () => {
    folder = await temporaryFolder();
    profileFile = join(folder, "config", "config.json");
    [here, there] = await Promise.all([startEcho("here"), startEcho("there")]);
    const key = join(folder, "key.txt");
    await writeFile(key, "wb_there\n");
    const { code, err } = await run(["profiles", "set", "there", "--url", there.url, "--key-file", key]);
    expect(code, err).to.equal(0);
  });
  after(async () => {
    here.server.close();
    there.server.close();
    await rm(folder, { recursive: true });
  });

  it("is asked with no key that no header can carry, wherever that stands", async () => {
    const wrong: readonly (readonly [readonly string[], Record<string, string>])[] = [
      [["suppressions", "list", "--url", here.url, "--key", "wb_…"], {}],
      [["suppressions", "list"], { WAYBILL_URL: here.url, WAYBILL_KEY: "wb 1" }],
      [["profiles", "set", "wrong", "--url", here.url, "--key", "wb_…"], {}],
    ];
    for (const [words, env] of wrong) {
      const { code, err } = await run(words, env);
      expect([code, err]).to.deep.equal([
        2,
        "The API key is none: it has spaces or characters that are not ASCII; expected the whole text that keys create printed",
      ]);
    }
  });

  it("is that of --url and --key, before or behind the command", async () => {
    const wanted = { asked: "there", key: "Bearer wb_1" };
    expect(await asked(["--url", there.url, "--key=wb_1"], { WAYBILL_URL: here.url })).to.deep.equal(wanted);
    const { out } = await run(["--url", there.url, "--key", "wb_1", "suppressions", "list", "--json"]);
    expect(JSON.parse(out)[0]).to.deep.equal(wanted);
  });

  it("is that of the environment, without options", async () => {
    const env = { WAYBILL_URL: here.url, WAYBILL_KEY: "wb_2" };
    expect(await asked([], env)).to.deep.equal({ asked: "here", key: "Bearer wb_2" });
  });

  it("is that of a profile, named by an option or the environment", async () => {
    const wanted = { asked: "there", key: "Bearer wb_there" };
    expect(await asked(["--profile", "there"], { WAYBILL_URL: here.url })).to.deep.equal(wanted);
    expect(await asked([], { WAYBILL_PROFILE: "there" })).to.deep.equal(wanted);
  });

  it("is that of the profile in use, unless something else names one, and its key goes nowhere else", async () => {
    await run(["profiles", "use", "there"]);
    expect(await asked([])).to.deep.equal({ asked: "there", key: "Bearer wb_there" });
    expect(await asked([], { WAYBILL_URL: here.url })).to.deep.equal({ asked: "here", key: null });
    expect(await asked(["--url", here.url])).to.deep.equal({ asked: "here", key: null });
    await run(["profiles", "use"]);
    expect((await run(["jobs", "list"], { PORT: "1" })).err).to.include("http://127.0.0.1:1");
  });

  it("loses its key with its URL", async () => {
    await run(["profiles", "set", "moved", "--url", there.url, "--key", "wb_3"]);
    await run(["profiles", "set", "moved", "--url", here.url]);
    expect(await asked(["--profile", "moved"])).to.deep.equal({ asked: "here", key: null });
    await run(["profiles", "remove", "moved"]);
    const { code, err } = await run(["jobs", "list", "--profile", "moved"]);
    expect(code).to.equal(2);
    expect(err).to.include('There is no profile "moved"');
  });

  it("is listed without its key, from a file that nobody else reads", async () => {
    const { out } = await run(["profiles", "list"]);
    expect(out.split("\n")[0]).to.match(/^name +url +key +current$/);
    expect(out).to.include(there.url).and.not.include("wb_there");
    expect((await stat(profileFile)).mode & 0o777).to.equal(0o600);
    await chmod(profileFile, 0o644);
    const { code, err } = await run(["profiles", "list"]);
    expect(code).to.equal(1);
    expect(err).to.include(`chmod 600 ${profileFile}`);
    await chmod(profileFile, 0o600);
  });

  it("is no matter of a command that works on the servers", async () => {
    const { code, err } = await run(["keys", "list", "--url", here.url]);
    expect({ code, err }).to.deep.equal({
      code: 2,
      err: "--url, --key and --profile name a service, and waybill keys list works on the servers that NATS_URL and MYSQL_URL name",
    });
  });

  it("is named once: --url and --profile together, or no value, are wrong usage", async () => {
    expect((await run(["stats", "--url", here.url, "--profile", "there"])).code).to.equal(2);
    expect((await run(["stats", "--url"])).err).to.equal("--url needs a value");
  });

  it("leaves the options of a command alone that have the same name", async () => {
    const { err } = await run(["verify", join(folder, "none.ndjson"), "--key", join(folder, "none.pem")]);
    expect(err).to.include("none.").and.not.include("--profile");
  });
});

describe("waybill help", () => {
  it("shows the page of the command behind it", async () => {
    const { code, out } = await runProgram(["help", "jobs", "retry"]);
    expect(code).to.equal(0);
    expect(out).to.equal((await runProgram(["jobs", "retry", "--help"])).out);
    expect(out).to.include("Usage: waybill jobs retry");
    expect((await runProgram(["help"])).out).to.include("Usage: waybill ");
  });
});
