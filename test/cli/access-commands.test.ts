import { expect } from "chai";
import { Command } from "commander";
import { parseAccessKey } from "../../src/access/access-key.ts";
import type { CommandContext } from "../../src/cli/command-context.ts";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addKeyCommands } from "../../src/cli/keys.ts";
import { addTenantCommands } from "../../src/cli/tenants.ts";
import { readConfig } from "../../src/settings/config.ts";
import { quietProcess } from "../support/cli.ts";
import { failureOf } from "../support/failure-of.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { settingsFor } from "../support/waybill.ts";

describe("The commands for keys and tenants", () => {
  let nats: TestNats;
  let printed: string[];
  let told: string[];

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());

  const run = async (...args: readonly string[]): Promise<void> => {
    printed = [];
    told = [];
    const env = settingsFor({ nats, mysqlUrl: "mysql://nobody@127.0.0.1:1/none", smtpUrl: "smtp://127.0.0.1:1" });
    const context: CommandContext = {
      ...quietProcess,
      readConfig: (overrides = {}) => readConfig({ ...env, ...overrides }),
      print: (line) => printed.push(line),
      tell: (line) => told.push(line),
    };
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addKeyCommands(program, context);
    addTenantCommands(program, context);
    await program.parseAsync(args, { from: "user" });
  };
  const runJson = async (...args: readonly string[]) => {
    await run(...args, "--json");
    expect(printed).to.have.lengthOf(1);
    return JSON.parse(printed[0] ?? "");
  };

  it("show a new key alone on standard output, so that it can be put into a variable", async () => {
    await run("keys", "create", "--tenant", "acme", "--name", "shop backend");
    const key = parseAccessKey(printed.join("\n"));
    expect(key).not.to.equal(null);
    const hosts = nats.config.servers.map((server) => server.replace(/^.*(\/\/|@)/, ""));
    expect(told).to.deep.equal([
      `Working on NATS ${hosts.join(", ")} with NATS_PREFIX ${nats.prefix}.`,
      `This is key ${key?.id} of tenant acme (jobs:read, jobs:write, events:read). It is not shown again.`,
    ]);
  });

  it("show it as JSON with what was kept of it, and never again", async () => {
    const made = await runJson("keys", "create", "--tenant", "acme", "--scopes", "admin,jobs:read");
    expect(Object.keys(made)).to.deep.equal(["id", "key", "tenant", "name", "scopes", "createdAt"]);
    expect(made).to.deep.include({ tenant: "acme", name: null, scopes: ["jobs:read", "admin"] });
    expect(parseAccessKey(made.key)?.id).to.equal(made.id);
    const [listed] = (await runJson("keys", "list")).filter(({ id }: { id: string }) => id === made.id);
    const { key: _, ...kept } = made;
    expect(listed).to.deep.equal({ ...kept, revokedAt: null });
    await run("keys", "list");
    expect(printed.join("\n")).to.include(made.id).and.not.include(made.key.slice(-49));
  });

  it("revoke a key by its id, or by itself when it is what was leaked, as often as one likes", async () => {
    const { id, key } = await runJson("keys", "create", "--tenant", "acme");
    const { revokedAt } = await runJson("keys", "revoke", id);
    expect(revokedAt).to.match(/^\d{4}-/);
    expect(await runJson("keys", "revoke", key)).to.include({ id, revokedAt });
    await run("keys", "revoke", id);
    expect(printed).to.deep.equal([`Key ${id} of tenant acme is revoked.`]);
  });

  it("lay down rules for a tenant one by one, and lift them", async () => {
    expect(await runJson("tenants", "set", "shop", "--daily-recipients", "5000")).to.deep.equal({
      tenant: "shop",
      senders: null,
      dailyRecipients: 5000,
      approvalAbove: null,
    });
    await runJson("tenants", "set", "shop", "--senders", "@Shop.example, Bob@bücher.example");
    const rules = {
      senders: ["shop.example", "bob@xn--bcher-kva.example"],
      dailyRecipients: 5000,
      approvalAbove: null,
    };
    expect(await runJson("tenants", "list")).to.deep.include({ tenant: "shop", ...rules });
    const lifted = await runJson("tenants", "set", "shop", "--senders", "none", "--daily-recipients", "none");
    expect(lifted).to.deep.equal({ tenant: "shop", senders: null, dailyRecipients: null, approvalAbove: null });
  });

  for (const [args, expected] of [
    [["keys", "create", "--tenant", "A.b"], '--tenant is "A.b"; expected 1 to 64 lower-case letters'],
    [["keys", "create", "--tenant", "a", "--scopes", "jobs:red"], '--scopes is "jobs:red"; expected some of jobs:read'],
    [["keys", "create", "--tenant", "a", "--name", "a\nb"], '--name is "a\\nb"; expected'],
    [["keys", "revoke", "a/b"], "The id of a key is letters and digits"],
    [["tenants", "set", "shop"], "Nothing to set; expected --daily-recipients, --senders or --approval-above"],
    [["tenants", "set", "shop", "--daily-recipients", "many"], '--daily-recipients is "many"; expected a whole number'],
    [["tenants", "set", "shop", "--senders", "a b"], '--senders is "a b"; expected addresses and domains'],
  ] as const) {
    it(`refuse ${args.join(" ").replace("\n", "\\n")}`, async () => {
      const failure = await failureOf(run(...args));
      expect(failure).to.be.instanceOf(WrongUsage);
      expect(failure.message).to.include(expected);
    });
  }

  it("say that there is no such key", async () => {
    const failure = await failureOf(run("keys", "revoke", "nobody"));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.equal("There is no key nobody: see keys list");
  });

  it("need a tenant to make a key for", async () => {
    expect((await failureOf(run("keys", "create"))).message).to.include("--tenant <tenant>");
  });
});
