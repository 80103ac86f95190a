import type { ClusterNode } from "../cluster-node.ts";

type Connections = { readonly connections: readonly { readonly name?: string }[] };

/** The names of the processes of the service that are connected to a node; tests connect without a name. */
export async function clientsOf({ monitorUrl }: ClusterNode): Promise<readonly string[]> {
  const answer = await fetch(new URL("/connz", monitorUrl), { signal: AbortSignal.timeout(5000) });
  const { connections } = (await answer.json()) as Connections;
  return connections.flatMap(({ name }) => (name === undefined || name.endsWith("-visit") ? [] : [name]));
}
