import { CannotStart } from "../process/lifecycle.ts";
import { type DatabaseBinary, findDatabaseBinary, findNatsBinary, searchFolders } from "./find-binary.ts";
import { canInstall, howToInstall, installServers, type Print, type ServerKind } from "./install-servers.ts";

export type LocatedServers = { readonly nats: string | null; readonly database: DatabaseBinary | null };

/**
 * The programs of the servers that are needed; null for a server that is not. Installs missing programs if that is
 * allowed and possible; otherwise throws CannotStart with the command that installs them.
 */
export async function locateServers(
  needed: ReadonlySet<ServerKind>,
  mayInstall: boolean,
  print: Print,
  folders: readonly string[] = searchFolders(),
): Promise<LocatedServers> {
  const found = await locate(needed, folders);
  if (found.missing.length === 0) return found;
  if (!mayInstall || !(await canInstall())) throw new CannotStart(howToInstall(found.missing));
  await installServers(found.missing, print);
  const afterwards = await locate(needed, folders);
  if (afterwards.missing.length > 0) throw new CannotStart(howToInstall(afterwards.missing));
  return afterwards;
}

async function locate(
  needed: ReadonlySet<ServerKind>,
  folders: readonly string[],
): Promise<LocatedServers & { readonly missing: readonly ServerKind[] }> {
  const [nats, database] = await Promise.all([
    needed.has("nats") ? findNatsBinary(folders) : null,
    needed.has("database") ? findDatabaseBinary(folders) : null,
  ]);
  const found = { nats, database };
  return { ...found, missing: [...needed].filter((kind) => found[kind] === null) };
}
