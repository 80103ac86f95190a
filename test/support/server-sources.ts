import type { StartedTestContainer } from "testcontainers";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { type DatabaseBinary, findDatabaseBinary, findNatsBinary } from "../../src/standalone/find-binary.ts";
import { canInstall, howToInstall, installServers, type ServerKind } from "../../src/standalone/install-servers.ts";
import { atEndOfRun } from "./end-of-run.ts";

/** Where the tests get a server from: one that runs already, or a program to start. */
export type Source<Binary> =
  | { readonly kind: "running"; readonly url: string }
  | { readonly kind: "binary"; readonly binary: Binary };

let natsSource: Promise<Source<string>> | null = null;
let databaseSource: Promise<Source<DatabaseBinary>> | null = null;

/** Decided once for the whole run. */
export function findNatsSource(): Promise<Source<string>> {
  natsSource ??= findSource("nats", "TEST_NATS_URL", findNatsBinary, startNatsContainer);
  return natsSource;
}

/** Decided once for the whole run. */
export function findDatabaseSource(): Promise<Source<DatabaseBinary>> {
  databaseSource ??= findSource("database", "TEST_MYSQL_URL", findDatabaseBinary, startDatabaseContainer);
  return databaseSource;
}

/**
 * A server that was named; else a program of this machine; else a container; else, as root on Debian or Ubuntu, what
 * apt-get installs. There is no fifth way, and no skipping: a test that did not run proves nothing.
 */
async function findSource<Binary>(
  kind: ServerKind,
  variable: "TEST_NATS_URL" | "TEST_MYSQL_URL",
  find: () => Promise<Binary | null>,
  startContainer: () => Promise<string>,
): Promise<Source<Binary>> {
  const url = process.env[variable];
  if (url) return { kind: "running", url };
  const binary = await find();
  if (binary !== null) return { kind: "binary", binary };
  if (await hasContainerEngine()) return { kind: "running", url: await startContainer() };
  if (process.env["WAYBILL_INSTALL"] !== "no" && (await canInstall())) {
    await installServers([kind], (line) => process.stderr.write(`${line}\n`));
    const installed = await find();
    if (installed !== null) return { kind: "binary", binary: installed };
  }
  throw new CannotStart(
    `The tests need a real server, and found none of: ${variable}, a program in PATH, a container engine, apt-get as root.\n${howToInstall([kind])}`,
  );
}

async function hasContainerEngine(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import("testcontainers");
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
}

async function startNatsContainer(): Promise<string> {
  const { GenericContainer, Wait } = await import("testcontainers");
  const container = await new GenericContainer("nats:2.12-alpine")
    .withCommand(["-js"])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .start();
  return `nats://${endOfRunStops(container)}:${container.getMappedPort(4222)}`;
}

async function startDatabaseContainer(): Promise<string> {
  const { GenericContainer, Wait } = await import("testcontainers");
  const password = "only-inside-the-tests";
  const container = await new GenericContainer("mysql:8.4")
    .withEnvironment({ MYSQL_ROOT_PASSWORD: password })
    .withTmpFs({ "/var/lib/mysql": "rw" })
    .withExposedPorts(3306)
    // The image starts the server twice, first to set it up without a network.
    .withWaitStrategy(Wait.forLogMessage(/ready for connections.*port: 3306/))
    .start();
  return `mysql://root:${password}@${endOfRunStops(container)}:${container.getMappedPort(3306)}/mysql`;
}

function endOfRunStops(container: StartedTestContainer): string {
  atEndOfRun(async () => {
    await container.stop();
  });
  return container.getHost();
}
