import type { Command } from "commander";
import type { ThrottledReceiver } from "../domain/throttles/throttle.ts";
import { createJetStreamThrottleStore } from "../mail/throttles/jetstream-throttle-store.ts";
import { createThrottleView } from "../mail/throttles/throttle-view.ts";
import type { CommandContext } from "./command-context.ts";
import { explain } from "./explain.ts";
import { onNats } from "./on-servers.ts";
import { printTable } from "./table.ts";

type JsonOption = { readonly json?: boolean };

/** `throttles list`. */
export function addThrottleCommands(program: Command, context: CommandContext): void {
  const throttles = program.command("throttles").description("show the receivers of mail that are slowed down");
  const list = throttles
    .command("list")
    .description("list the receivers that have asked for patience, the slowest first")
    .option("--json", "as JSON")
    .action((options: JsonOption) => listThrottles(context, options));
  explain(list, { examples: ["waybill throttles list", "waybill throttles list --json"], asks: "nats" });
}

async function listThrottles(context: CommandContext, { json }: JsonOption): Promise<void> {
  const found = await onNats(context, (connection, { natsPrefix: prefix, streamReplicas: replicas }, patiently) =>
    patiently(createThrottleView(createJetStreamThrottleStore(connection, { prefix, replicas }))),
  );
  const rows = found.map(toRow);
  if (json) context.print(JSON.stringify(rows));
  else printTable(context, columns, rows);
}

const columns = ["receiver", "route", "perMinute", "connections", "since", "pausedUntil", "answer"] as const;

const toRow = ({ route, receiver, throttle }: ThrottledReceiver) => ({
  receiver,
  route,
  perMinute: Math.round(throttle.perSecond * 600) / 10,
  connections: Math.max(1, Math.floor(throttle.window)),
  since: new Date(throttle.since).toISOString(),
  pausedUntil: throttle.pausedUntil > Date.now() ? new Date(throttle.pausedUntil).toISOString() : null,
  answer: throttle.reason.message,
});
