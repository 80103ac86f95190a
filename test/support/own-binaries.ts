import { CannotStart } from "../../src/process/lifecycle.ts";
import { type DatabaseBinary, versionOf } from "../../src/standalone/find-binary.ts";
import { locateServers } from "../../src/standalone/locate-servers.ts";

/**
 * The programs that Waybill would start by itself. Tests of that start cannot do with a server that runs already or
 * in a container: without the programs, and without a way to install them, they fail and say how to get them.
 */
export async function locateOwnBinaries(): Promise<{ readonly nats: string; readonly database: DatabaseBinary }> {
  const mayInstall = process.env["WAYBILL_INSTALL"] !== "no";
  const print = (line: string): boolean => process.stderr.write(`${line}\n`);
  const { nats, database } = await locateServers(new Set(["nats", "database"]), mayInstall, print);
  if (nats === null || database === null) throw new CannotStart("The servers were asked for and not located");
  return { nats, database };
}

/** Of the `nats-server` that tests start, as `2.9.10`. */
export async function ownNatsVersion(): Promise<string> {
  const { nats } = await locateOwnBinaries();
  return /\d+\.\d+\.\d+/.exec(await versionOf(nats))?.[0] ?? "0.0.0";
}
