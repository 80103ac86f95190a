/**
 * Follows a tenant's events, from the first entry on, and prints each as a line of JSON. Started again, it goes on where it
 * was. Settings: NATS_URL, NATS_USER, NATS_PASSWORD, CONSUMER.
 */
import { connect } from "nats";

/** As asyncapi.json describes it. */
type WaybillEvent = { readonly id: string; readonly type: string; readonly subject: string; readonly data: object };

const { NATS_URL = "127.0.0.1:4222", NATS_USER = "acme", NATS_PASSWORD = "", CONSUMER = "acme" } = process.env;

const nats = await connect({
  servers: NATS_URL.split(","),
  user: NATS_USER,
  pass: NATS_PASSWORD,
  // All that the user may listen to.
  inboxPrefix: `_INBOX_${CONSUMER}`,
  maxReconnectAttempts: -1,
}).catch(giveUp);
const consumer = await nats.jetstream({ apiPrefix: "waybill.api" }).consumers.get("JOBS", CONSUMER).catch(giveUp);
const messages = await consumer.consume({ max_messages: 100 });
process.once("SIGTERM", () => void messages.close());

for await (const message of messages) {
  const entry: readonly WaybillEvent[] = message.json();
  for (const [index, event] of entry.entries()) {
    // Here goes what is to happen. It may happen twice, so know the event by its id; a type that is new is left aside.
    process.stdout.write(`${JSON.stringify({ sequence: message.seq, index, ...event })}\n`);
  }
  // After it, never before: what is not acknowledged comes again.
  message.ack();
}
await nats.drain();

/** A wrong address, a wrong password or a missing consumer: what NATS says about it is enough, without a stack trace. */
function giveUp(failure: unknown): never {
  process.stderr.write(`NATS at ${NATS_URL} cannot be used as ${NATS_USER}: ${String(failure)}\n`);
  process.exit(1);
}
