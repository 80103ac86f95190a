import type { JetStreamManager, StreamInfo } from "nats";
import { nanosOf } from "../nats/connection.ts";
import { type Finding, fine, serious, wordsOf } from "./finding.ts";

/** A leader hears from each copy every second. It calls a node that crashed `offline` only after a minute and a half. */
const silentNanos = nanosOf(5000);

type Fault = { readonly what: string; readonly advice: string };

/** How many copies these streams are to have. */
export type Wanted = { readonly streams: readonly string[]; readonly replicas: number };

/** Whether each stream of a cluster has all its copies, and each copy is up to date. */
export async function examineCopies({ streams }: JetStreamManager, wanted: Wanted): Promise<readonly Finding[]> {
  try {
    const names: string[] = [];
    for await (const name of streams.names()) names.push(name);
    const found: StreamInfo[] = [];
    for await (const info of streams.list()) found.push(info);
    return describeCopies(names, found, wanted);
  } catch (failure) {
    const what = `The cluster does not say where the copies of streams are: ${wordsOf(failure)}`;
    return [serious("nats", what, "Wait for the end of an election. More than half of the nodes must be there.")];
  }
}

/** One finding for each fault, with the streams that have it. A stream that has a name and does not answer has no leader. */
export function describeCopies(
  names: readonly string[],
  found: readonly StreamInfo[],
  wanted: Wanted,
): readonly Finding[] {
  const answered = new Set(found.map(({ config }) => config.name));
  const streamsByFault = new Map<string, { readonly advice: string; readonly streams: string[] }>();
  const note = (stream: string, { what, advice }: Fault): void => {
    const noted = streamsByFault.get(what) ?? { advice, streams: [] };
    noted.streams.push(stream);
    streamsByFault.set(what, noted);
  };
  for (const name of names) if (!answered.has(name)) note(name, withoutLeader);
  for (const info of found) for (const fault of faultsOf(info, wanted)) note(info.config.name, fault);
  if (streamsByFault.size === 0) return found.length === 0 ? [] : [fine("nats", allIsWell(found))];
  return [...streamsByFault].map(([what, { advice, streams }]) =>
    serious("nats", `${what}: ${streams.toSorted().join(", ")}`, advice),
  );
}

const withoutLeader: Fault = {
  what: "No node leads these streams, so they store nothing",
  advice: "Wait for the end of an election. More than half of the copies of each stream must be there.",
};

function faultsOf({ config, cluster }: StreamInfo, wanted: Wanted): readonly Fault[] {
  if (!cluster?.leader) return [withoutLeader];
  const followers = cluster.replicas ?? [];
  const copies = followers.length + 1;
  const missing: Fault = {
    what: `These streams have ${copies} of ${config.num_replicas} copies`,
    advice: "Add a node under a name that the cluster has never had.",
  };
  const unasked: Fault = {
    what: `These streams are made for ${config.num_replicas} of the ${wanted.replicas} copies of STREAM_REPLICAS`,
    advice: "Start a process of the service with this STREAM_REPLICAS: it has the others made.",
  };
  const isUnasked = wanted.streams.includes(config.name) && config.num_replicas < wanted.replicas;
  return [
    ...(isUnasked ? [unasked] : []),
    ...(copies < config.num_replicas ? [missing] : []),
    ...followers.flatMap(({ name, current, offline, active }) => {
      if (offline || active > silentNanos) return [awayNode(name)];
      return current ? [] : [laggingNode(name)];
    }),
  ];
}

const awayNode = (name: string): Fault => ({
  what: `Node ${name} is away, with its copies of`,
  advice: "Stop no other node. Start this one, or replace it.",
});

const laggingNode = (name: string): Fault => ({
  what: `Node ${name} is behind with its copies of`,
  advice: "Stop no other node until it is up to date.",
});

function allIsWell(found: readonly StreamInfo[]): string {
  const members = found.flatMap(({ cluster }) => [
    ...(cluster?.leader ? [cluster.leader] : []),
    ...(cluster?.replicas ?? []).map(({ name }) => name),
  ]);
  return `All copies of ${found.length} streams are up to date, on ${[...new Set(members)].toSorted().join(", ")}`;
}
