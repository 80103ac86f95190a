import type { Command } from "commander";
import { defaultTenant, expectedTenantName, isTenantName } from "../domain/tenant.ts";
import { sealingOf } from "../roles/sealing.ts";
import { bucketOfWebhooks, createJetStreamWebhookStore } from "../webhooks/jetstream-webhook-store.ts";
import { createTenantSecrets, type TenantSecrets } from "../webhooks/tenant-secrets.ts";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onNats } from "./on-servers.ts";

type SecretOptions = YesOption & {
  readonly tenant: string;
  readonly rotate?: boolean | undefined;
  readonly json?: boolean;
};

/** `webhooks secret`. */
export function addWebhookCommands(program: Command, context: CommandContext): void {
  const command = program
    .command("webhooks")
    .description("manage the secrets that sign webhooks")
    .command("secret")
    .description("print the secret that signs calls to the webhookUrl of a tenant's jobs; created at first use")
    .option("--tenant <tenant>", "name of the tenant", defaultTenant)
    .option("--rotate", "create a new secret; the old one also signs for another day")
    .option("--json", "as JSON")
    .action((options: SecretOptions) => showSecret(context, options));
  addYes(command);
  explain(command, {
    examples: ["waybill webhooks secret", "waybill webhooks secret --tenant acme --rotate --json"],
    asks: "nats",
  });
}

async function showSecret(context: CommandContext, { tenant, rotate, json, yes }: SecretOptions): Promise<void> {
  if (!isTenantName(tenant)) {
    throw new WrongUsage(`--tenant is ${JSON.stringify(tenant)}; expected ${expectedTenantName}`);
  }
  const [secret, previous] = await readSecrets(context, tenant, { rotate, yes });
  const previousValidUntil = previous?.validUntil ?? null;
  if (json) {
    context.print(JSON.stringify({ tenant, secret: secret?.text, previousValidUntil }));
    return;
  }
  context.print(secret?.text ?? "");
  if (previousValidUntil !== null) context.tell(`The old secret also signs until ${previousValidUntil}.`);
}

/** The command may run in a container that does not have it, such as that of the API. */
const orSetting =
  "This is the stored secret. Where the processes that send webhooks have WEBHOOK_SECRET, that one signs.";

const readSecrets = (
  context: CommandContext,
  tenant: string,
  { rotate, yes }: Pick<SecretOptions, "rotate" | "yes">,
): ReturnType<TenantSecrets["of"]> =>
  onNats(context, async (connection, config, patiently) => {
    const { natsPrefix: prefix, streamReplicas: replicas, webhooks } = config;
    const sealing = sealingOf(config, bucketOfWebhooks);
    const store = await patiently(() => createJetStreamWebhookStore(connection, { prefix, replicas }, sealing));
    const secrets = createTenantSecrets(store, webhooks.secret);
    if (tenant === defaultTenant && webhooks.secret === null) context.tell(orSetting);
    if (rotate) await askFirst(context, `Sign calls for tenant ${tenant} with a new secret?`, { yes });
    // A repeated rotation would drop the secret that receivers know, so a rotation without an answer is left to a person.
    const found = rotate ? await secrets.rotate(tenant) : await patiently(() => secrets.of(tenant));
    if (found !== null) return found;
    throw new CommandFailed("WEBHOOK_SECRET sets the secret of this tenant: change it there");
  });
