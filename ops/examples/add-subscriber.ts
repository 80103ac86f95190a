/**
 * Makes the consumer that a subscriber reads by; run it as Waybill's own user of NATS, once (again is harmless). What it
 * filters is all that the subscriber can read. With FROM, the sequence of an event, one that is there is put back: it
 * reads again from that event on. Settings: NATS_URL, NATS_USER, NATS_PASSWORD, TENANT, CONSUMER, FROM.
 */
import { AckPolicy, connect, DeliverPolicy, NatsError } from "nats";

const { NATS_URL = "127.0.0.1:4222", NATS_USER = "waybill", NATS_PASSWORD = "" } = process.env;
const { TENANT = "", CONSUMER = TENANT, FROM } = process.env;
if (!/^[\w-]+$/.test(TENANT))
  end(`TENANT is "${TENANT}"; expected the tenant whose events are to be read, such as acme`);
if (!/^[\w-]+$/.test(CONSUMER)) end(`CONSUMER is "${CONSUMER}"; expected letters, digits, _ and -`);
if (FROM !== undefined && !/^[1-9]\d{0,14}$/.test(FROM)) end(`FROM is "${FROM}"; expected the sequence of an entry`);

const nats = await connect({ servers: NATS_URL.split(","), user: NATS_USER, pass: NATS_PASSWORD }).catch(giveUp);
const manager = await nats.jetstreamManager().catch(giveUp);
// NATS would take it, and leave out what comes until then.
const { last_seq: last } = (await manager.streams.info("JOBS")).state;
if (Number(FROM ?? 1) > last + 1) end(`FROM is ${FROM}; the log ends with ${last}`);
if (FROM !== undefined) await removeIfThere();
await manager.consumers.add("JOBS", {
  durable_name: CONSUMER,
  filter_subject: `jobs.${TENANT}.>`,
  ...(FROM === undefined
    ? { deliver_policy: DeliverPolicy.All }
    : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Number(FROM) }),
  ack_policy: AckPolicy.Explicit,
});
await nats.drain();
process.stdout.write(`Consumer ${CONSUMER} is there: it reads jobs.${TENANT}.> from event ${FROM ?? 1} on.\n`);

/** Where a consumer begins is laid down when it is made: it has to be made anew. */
async function removeIfThere(): Promise<void> {
  await manager.consumers.delete("JOBS", CONSUMER).catch((failure: unknown) => {
    const isAbsent = failure instanceof NatsError && failure.api_error?.err_code === 10014;
    if (!isAbsent) throw failure;
  });
}

/** What NATS says of an address where nobody listens, or of a wrong password, is enough: no stack trace. */
function giveUp(failure: unknown): never {
  end(`NATS at ${NATS_URL} cannot be used as ${NATS_USER}: ${String(failure)}`);
}

function end(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
