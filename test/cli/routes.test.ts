import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addRouteCommands } from "../../src/cli/routes.ts";
import { createCommandLine } from "../support/cli.ts";
import { failureOf } from "../support/failure-of.ts";
import { createMemoryRouteStore } from "../support/memory/memory-route-store.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const password = "p@ss w%rd";

describe("The commands for mail routes", () => {
  let api: RunningApi;
  let passwordFile: string;
  let mailRoutes: ReturnType<typeof createMemoryRouteStore>;

  beforeEach(async () => {
    mailRoutes = createMemoryRouteStore();
    const workers = async () => [];
    api = await startApi({ mailRoutes, system: { ...unused, workers } });
    passwordFile = join(await temporaryFolder(), "password");
    await writeFile(passwordFile, `${password}\n`);
  });
  afterEach(() => api.close());

  const run = (...args: readonly string[]) =>
    createCommandLine([addRouteCommands], { WAYBILL_URL: api.url }).run("routes", ...args);
  const set = async (...args: readonly string[]) => JSON.parse((await run("set", ...args, "--json")).printed.join(""));
  const names = async () =>
    JSON.parse((await run("list", "--json")).printed.join("")).map(({ name }: { name: string }) => name);

  it("create one, with a password that is sent and never shown", async () => {
    const made = await set("second", "--url", "smtp://ann@127.0.0.1:2525", "--password-file", passwordFile);
    expect(made).to.deep.include({
      ...{ name: "second", isDefault: false, url: "smtp://ann@127.0.0.1:2525", hasPassword: true, connections: 10 },
      ...{ rate: null, senders: null, tenants: null, order: 100, weight: 1, state: "unknown" },
    });
    const { url = "" } = mailRoutes.book.routes().find(({ name }) => name === "second") ?? {};
    expect(decodeURIComponent(new URL(url).password)).to.equal(password);
    expect(api.logged.join("\n")).not.to.include("p@ss").and.not.to.include(encodeURIComponent(password));
  });

  it("change what they name and leave the rest, the password included", async () => {
    await set("second", "--url", "smtp://ann@127.0.0.1:2525", "--password-file", passwordFile, "--rate", "50");
    const changed = await set("second", "--order", "3", "--senders", "@News.Example.org,ann@example.org");
    expect(changed).to.deep.include({ order: 3, rate: 50, senders: ["news.example.org", "ann@example.org"] });
    expect(changed.hasPassword).to.equal(true);
    const again = await set("second", "--url", "smtp://ann@127.0.0.1:2525", "--rate", "none", "--senders", "all");
    expect(again).to.deep.include({ hasPassword: true, rate: null, senders: null });
    expect(await set("second", "--url", "smtp://ann@127.0.0.1:2526")).to.deep.include({ hasPassword: false });
  });

  it("set the rules of the default one, and nothing else of it; it cannot be removed", async () => {
    expect(await set("default", "--order", "1", "--tenants", "shop")).to.deep.include({ order: 1, tenants: ["shop"] });
    expect((await failureOf(run("set", "default", "--rate", "5"))).message).to.include("SMTP_RATE");
    expect((await failureOf(run("remove", "default"))).message).to.include("always there");
  });

  it("list and remove them", async () => {
    await set("second", "--url", "smtp://127.0.0.1:2525");
    expect(await names()).to.deep.equal(["default", "second"]);
    expect((await run("list")).printed[2]).to.match(
      /^second +smtp:\/\/127\.0\.0\.1:2525 +- +10 +- +- +100 +1 +unknown +0$/,
    );
    await run("remove", "second");
    expect(await names()).to.deep.equal(["default"]);
    expect(await failureOf(run("remove", "second"))).to.be.instanceOf(CommandFailed);
  });

  it("say what is wrong with what they were given, and do not quote a password", async () => {
    expect(await failureOf(run("set", "second"))).to.be.instanceOf(WrongUsage);
    const wrong = ["--url", "http://ann:top-secret@127.0.0.1", "--rate", "fast", "--senders", "no one"];
    const { message } = await failureOf(run("set", "second", ...wrong));
    expect(message).to.include("rate").and.not.include("top-secret");
    expect((await failureOf(run("set", "Second", "--order", "1"))).message).to.include("lower-case letters");
    expect((await failureOf(run("set", "second", "--order", "1"))).message).to.include("url is missing");
  });

  it("are refused a password where nothing could encrypt it", async () => {
    mailRoutes.isSealed = false;
    const { message } = await failureOf(
      run("set", "second", "--url", "smtp://ann@127.0.0.1:25", "--password-file", passwordFile),
    );
    expect(message).to.include("SECRETS_KEY");
    expect(await names()).to.deep.equal(["default"]);
  });
});

const away = async (): Promise<never> => {
  throw new Error("no command asks for this");
};
const unused = { streams: away, consumers: away, keys: away, throttles: away };
