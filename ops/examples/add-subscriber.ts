/**
 * Makes the consumer that a subscriber reads by; run it as Waybill's own user of NATS, once (again is harmless). What it
 * filters is all that the subscriber can read. Settings: NATS_URL, NATS_USER, NATS_PASSWORD, TENANT, CONSUMER.
 */
import { AckPolicy, connect, DeliverPolicy } from "nats";

const { NATS_URL = "127.0.0.1:4222", NATS_USER = "waybill", NATS_PASSWORD = "" } = process.env;
const { TENANT = "default", CONSUMER = TENANT } = process.env;

const nats = await connect({ servers: NATS_URL, user: NATS_USER, pass: NATS_PASSWORD });
const manager = await nats.jetstreamManager();
await manager.consumers.add("JOBS", {
  durable_name: CONSUMER,
  filter_subject: `jobs.${TENANT}.>`,
  deliver_policy: DeliverPolicy.All,
  ack_policy: AckPolicy.Explicit,
});
await nats.drain();
