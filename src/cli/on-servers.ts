import type { AccessStore } from "../access/access-store.ts";
import { createJetStreamAccessStore } from "../access/jetstream-access-store.ts";
import { Archived } from "../event-log/log-failures.ts";
import { examineDatabase } from "../health/examine-database.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { isPassingOutage } from "../nats/outages.ts";
import { createPatience, type Patience, WaitInterrupted } from "../nats/patience.ts";
import { addressOfServer } from "../nats/server-pool.ts";
import { createLifecycle } from "../process/lifecycle.ts";
import { createLogger } from "../process/logger.ts";
import { connectOrExplain, connectParts, type Parts } from "../roles/parts.ts";
import { CannotOpen } from "../secrets/sealing.ts";
import type { CompleteConfig } from "../settings/config.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { findServers, type Needed } from "./find-servers.ts";

/**
 * Connects only to NATS, does the work, and disconnects. The work wraps requests that are safe to repeat in `patiently`,
 * so that one slow answer does not end the command.
 */
export const onNats = <Result>(
  context: CommandContext,
  work: (connection: JetStreamConnection, config: CompleteConfig, patiently: Patience) => Promise<Result>,
): Promise<Result> =>
  onServers(context, "nats", async (config, patiently) => {
    const connection = await connectOrExplain(config, context.tell, patiently);
    try {
      return await work(connection, config, patiently).catch((failure: unknown) => {
        throw isWithoutLog(failure)
          ? new CommandFailed("There is no log here yet: the first start of the service creates it.")
          : failure;
      });
    } finally {
      await connection.close();
    }
  });

/** The error of the server if no service has created the streams. */
const isWithoutLog = (failure: unknown): boolean => failure instanceof Error && failure.message === "stream not found";

/** Opens the store of keys and tenants and does the work. Repeats each request while NATS does not answer. */
export const onAccessStore = <Result>(
  context: CommandContext,
  work: (store: AccessStore) => Promise<Result>,
): Promise<Result> =>
  onNats(context, async (connection, { natsPrefix: prefix, streamReplicas: replicas }, patiently) => {
    const store = await patiently(() => createJetStreamAccessStore(connection, { prefix, replicas }));
    return await work(asPatient(store, patiently));
  });

/** All of these requests are idempotent, so they may be repeated. */
const asPatient = (store: AccessStore, patiently: Patience): AccessStore => ({
  addKey: (key) => patiently(() => store.addKey(key)),
  listKeys: () => patiently(store.listKeys),
  revokeKey: (id, at) => patiently(() => store.revokeKey(id, at)),
  listTenants: () => patiently(store.listTenants),
  setRules: (tenant, changes) => patiently(() => store.setRules(tenant, changes)),
});

/** The server sends nothing while a statement creates or drops a large table. */
const silenceMs = 600_000;

/** Connects to the log and the database, does the work, and disconnects. */
export const onReadModels = (context: CommandContext, work: (parts: Parts) => Promise<void>): Promise<void> =>
  onServers(context, "nats-and-database", async (config, patiently) => {
    const logger = createLogger(config.logLevel, context.logForm, config.processName);
    const lifecycle = createLifecycle((failure, name) =>
      logger.error({ part: name, err: failure }, "could not be stopped"),
    );
    try {
      await expectDatabase(config.mysqlUrl);
      const { log, ...parts } = await connectParts(config, logger, null, lifecycle, patiently, { silenceMs });
      // `state` is the only request to the log that the work makes more than once.
      await work({ ...parts, log: { ...log, state: () => patiently(log.state) } });
    } finally {
      await lifecycle.stop();
    }
  });

/** Throws CommandFailed with the remedy if the database does not answer. */
async function expectDatabase(url: string): Promise<void> {
  const findings = await examineDatabase(url);
  const fault = findings.find(({ part, level }) => part === "mysql" && level === "serious");
  if (fault !== undefined) throw new CommandFailed(`${fault.what}\n${fault.advice ?? ""}`.trimEnd());
}

const onMissingKey = "The command needs the file SECRETS_KEY of the service.";

async function onServers<Result>(
  context: CommandContext,
  needed: Needed,
  work: (config: CompleteConfig, patiently: Patience) => Promise<Result>,
): Promise<Result> {
  const { config, stop } = await findServers(context.readConfig(), context, needed);
  try {
    return await work(config, patienceFor(context, config));
  } catch (failure) {
    if (failure instanceof Archived) throw new CommandFailed(failure.message);
    if (failure instanceof CannotOpen) throw new CommandFailed(`${failure.message} ${onMissingKey}`);
    throw failure instanceof WaitInterrupted ? new CommandFailed("Interrupted.") : failure;
  } finally {
    await stop();
  }
}

const sayAfterMs = 5000;

/** Limits how long a command retries while NATS does not answer, and reports the wait on standard error. */
function patienceFor({ tell, interrupted }: CommandContext, { nats, commandPatienceMs }: CompleteConfig): Patience {
  const place = nats.servers.map(addressOfServer).join(", ");
  const patience = inSeconds(commandPatienceMs);
  return createPatience({
    forMs: commandPatienceMs,
    signal: interrupted,
    isPassing: isPassingOutage,
    sayAfterMs,
    waits: ({ waitedMs }) =>
      tell(`NATS at ${place} has not answered for ${inSeconds(waitedMs)} s; trying for ${patience} s`),
  });
}

const inSeconds = (ms: number): number => Math.round(ms / 1000);
