import type { Command } from "commander";
import { defaultTenant, expectedTenantName, isTenantName } from "../domain/tenant.ts";
import { createJetStreamWebhookStore } from "../webhooks/jetstream-webhook-store.ts";
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
    .description("what webhooks are signed with")
    .command("secret")
    .description("the secret that signs what goes to the webhookUrl of a tenant's jobs; made at first use")
    .option("--tenant <tenant>", "whose", defaultTenant)
    .option("--rotate", "make a new one; the one before signs as well for a day")
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
  if (previousValidUntil !== null) context.tell(`The one before signs as well until ${previousValidUntil}.`);
}

const readSecrets = (
  context: CommandContext,
  tenant: string,
  { rotate, yes }: Pick<SecretOptions, "rotate" | "yes">,
): ReturnType<TenantSecrets["of"]> =>
  onNats(context, async (connection, { natsPrefix: prefix, streamReplicas: replicas, webhooks }, patiently) => {
    const store = await patiently(() => createJetStreamWebhookStore(connection, { prefix, replicas }));
    const secrets = createTenantSecrets(store, webhooks.secret);
    if (rotate) await askFirst(context, `Sign what goes to tenant ${tenant} with a new secret?`, { yes });
    // Rotated twice, the secret that receivers know would not sign any more: where no answer comes, a person looks.
    const found = rotate ? await secrets.rotate(tenant) : await patiently(() => secrets.of(tenant));
    if (found !== null) return found;
    throw new CommandFailed("The secret of this tenant is laid down by WEBHOOK_SECRET: change it there");
  });
