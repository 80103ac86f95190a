import { type Command, Option } from "commander";
import { digestOfKey, newAccessKey, parseAccessKey } from "../access/access-key.ts";
import { defaultScopes, isScope, type KeyRecord, type Scope, scopes, toShownKey } from "../access/key-ring.ts";
import { expectedTenantName, isTenantName } from "../domain/tenant.ts";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onAccessStore } from "./on-servers.ts";
import { printTable } from "./table.ts";

type CreateOptions = {
  readonly tenant: string;
  readonly name?: string;
  readonly scopes?: string;
  readonly json?: boolean;
};
type JsonOption = { readonly json?: boolean };

/** `keys create|list|revoke`. */
export function addKeyCommands(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description("create, list and revoke API keys");
  const json = () => new Option("--json", "as JSON");
  const create = keys
    .command("create")
    .description("create a key; it is shown only once")
    .requiredOption("--tenant <tenant>", "the tenant whose jobs the key may access")
    .option("--name <name>", "a label for the key")
    .option(
      "--scopes <scopes>",
      `some of ${scopes.join(",")}; all but jobs:approve, bounces:write and admin by default`,
    )
    .addOption(json())
    .action((options: CreateOptions) => createKey(context, options));
  const list = keys
    .command("list")
    .description("list all keys, oldest first, without their secrets")
    .addOption(json())
    .action((options: JsonOption) => listKeys(context, options));
  const revoke = keys
    .command("revoke")
    .description("revoke a key; every instance refuses it within a second")
    .argument("<id>", "id of the key, or the key itself, for instance if it was leaked")
    .addOption(json())
    .action((id: string, options: JsonOption & YesOption) => revokeKey(context, id, options));
  addYes(revoke);
  explain(create, {
    examples: [
      "export WAYBILL_KEY=$(waybill keys create --tenant default)",
      'waybill keys create --tenant acme --name "the shop" --scopes jobs:read,jobs:write --json',
    ],
    asks: "nats",
  });
  explain(list, { examples: ["waybill keys list", "waybill keys list --json"], asks: "nats" });
  explain(revoke, { examples: ["waybill keys revoke <id>"], asks: "nats" });
}

async function createKey(context: CommandContext, options: CreateOptions): Promise<void> {
  const { tenant, name = null } = options;
  if (!isTenantName(tenant)) {
    throw new WrongUsage(`--tenant is ${JSON.stringify(tenant)}; expected ${expectedTenantName}`);
  }
  if (name !== null && !isKeyName(name)) {
    throw new WrongUsage(`--name is ${JSON.stringify(name)}; expected 1 to 100 characters on one line`);
  }
  const { id, text } = newAccessKey();
  const record: KeyRecord = {
    id,
    tenant,
    name,
    scopes: readScopes(options.scopes),
    createdAt: new Date().toISOString(),
    sha256: digestOfKey(text).toString("hex"),
    revokedAt: null,
  };
  await onAccessStore(context, (store) => store.addKey(record));
  if (options.json) {
    const { scopes, createdAt } = record;
    context.print(JSON.stringify({ id, key: text, tenant, name, scopes, createdAt }));
    return;
  }
  context.print(text);
  context.tell(`This is key ${id} of tenant ${tenant} (${record.scopes.join(", ")}). It is not shown again.`);
}

const isKeyName = (name: string): boolean => name.length >= 1 && name.length <= 100 && !/\p{Cc}/u.test(name);

function readScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return defaultScopes;
  const asked = text.split(",").map((scope) => scope.trim());
  const unknown = asked.filter((scope) => !isScope(scope));
  if (unknown.length > 0) {
    throw new WrongUsage(`--scopes is ${JSON.stringify(text)}; expected some of ${scopes.join(",")}`);
  }
  return scopes.filter((scope) => asked.includes(scope));
}

async function listKeys(context: CommandContext, { json }: JsonOption): Promise<void> {
  const keys = (await onAccessStore(context, (store) => store.listKeys())).map(toShownKey);
  if (json) context.print(JSON.stringify(keys));
  else printTable(context, ["id", "tenant", "name", "scopes", "createdAt", "revokedAt"], keys);
}

async function revokeKey(context: CommandContext, given: string, options: JsonOption & YesOption): Promise<void> {
  // A person who leaked a key has the key at hand, but not its id.
  const id = parseAccessKey(given)?.id ?? given;
  if (!/^[0-9A-Za-z]{1,64}$/.test(id)) throw new WrongUsage("The id of a key is letters and digits: see keys list");
  const key = await onAccessStore(context, async (store) => {
    const known = (await store.listKeys()).find((one) => one.id === id);
    if (known === undefined) return null;
    const { tenant, name } = known;
    const question = `Revoke key ${id}${name === null ? "" : ` (${name})`} of tenant ${tenant} permanently?`;
    await askFirst(context, question, options);
    return await store.revokeKey(id, new Date().toISOString());
  });
  if (key === null) throw new CommandFailed(`There is no key ${id}: see keys list`);
  context.print(options.json ? JSON.stringify(toShownKey(key)) : `Key ${id} of tenant ${key.tenant} is revoked.`);
}
