import type { ClusterNode } from "../cluster-node.ts";
import { clientsOf } from "./clients-of-node.ts";
import { type ClusterFault, costsNothing, lasting } from "./fault.ts";
import { follower, leaderOfLog, type Part } from "./parts-of-nodes.ts";
import type { ClusterStage } from "./stage.ts";

const apartMs = 20_000;
/** A leader that the others hear, and that hears none of them, gives up after 10 to 20 s; they elect another one then. */
const deafMs = 30_000;

/** A node that clients reach, and that does not reach the other nodes, or is not reached by them. */
const apart = ({ name, find }: Part, how: string, part: (node: ClusterNode) => void | Promise<void>): ClusterFault => ({
  name: `${name} ${how}, 20 s`,
  strike: async (stage) => {
    await part(await find(stage));
    await lasting(apartMs);
    await stage.cluster.heal();
    return costsNothing;
  },
});

const movedWithinMs = 10_000;

async function nodeOfMostClients({ cluster }: ClusterStage): Promise<ClusterNode> {
  const counted = await Promise.all(
    cluster.nodes.map(async (node) => ({ node, count: (await clientsOf(node)).length })),
  );
  const [most] = counted.toSorted((one, other) => other.count - one.count);
  return (most as (typeof counted)[number]).node;
}

async function clientsElsewhere({ cluster }: ClusterStage, node: ClusterNode): Promise<ReadonlySet<string>> {
  const others = cluster.nodes.filter((other) => other !== node);
  return new Set((await Promise.all(others.map(clientsOf))).flat());
}

/** Its clients are connected, are answered, and can have nothing stored. */
export const minority: ClusterFault = {
  name: "the node of most clients loses its routes, 20 s",
  strike: async (stage) => {
    const node = await nodeOfMostClients(stage);
    const before = new Set(await clientsOf(node));
    node.stall();
    await lasting(movedWithinMs);
    // One that was started meanwhile has come to it since.
    const left = (await clientsOf(node)).filter((client) => before.has(client));
    const elsewhere = await clientsElsewhere(stage, node);
    await lasting(apartMs - movedWithinMs);
    await stage.cluster.heal();
    const violations = left.map(
      (client) =>
        `${client} was on the minority's side after ${movedWithinMs / 1000} s${elsewhere.has(client) ? ", and on the other" : ""}`,
    );
    return { ...costsNothing, violations };
  },
};

export const partings: readonly ClusterFault[] = [
  minority,
  ...[leaderOfLog, follower].flatMap((part) => [
    apart(part, "without routes", (node) => node.cutOff()),
    apart(part, "cut off in both directions", (node) => node.stall()),
    apart(part, "is not heard", (node) => node.stallOneWay("what it says")),
    { ...apart(part, "hears nothing", (node) => node.stallOneWay("what it hears")), boundMs: deafMs },
  ]),
];
