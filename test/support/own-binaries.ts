import { CannotStart } from "../../src/lifecycle.ts";
import type { DatabaseBinary } from "../../src/standalone/find-binary.ts";
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
