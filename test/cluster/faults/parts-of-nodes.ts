import { streamName } from "../../../src/event-log/subjects.ts";
import type { ClusterNode } from "../cluster-node.ts";
import type { ClusterStage } from "./stage.ts";

/** The part that a node has in the log or in the cluster, and who has it at the moment. */
export type Part = { readonly name: string; readonly find: (stage: ClusterStage) => Promise<ClusterNode> };

const logOf = ({ cluster }: ClusterStage): string => streamName(cluster.prefix, "JOBS");

export const leaderOfLog: Part = { name: "the log's leader", find: (stage) => stage.cluster.leaderOf(logOf(stage)) };

export const metaLeader: Part = { name: "the meta leader", find: ({ cluster }) => cluster.placer() };

/** Where there is one, a node that leads nothing of importance. */
export const follower: Part = {
  name: "a follower",
  find: async (stage) => {
    const followers = await stage.cluster.followersOf(logOf(stage));
    const placer = await stage.cluster.placer();
    return followers.find((node) => node !== placer) ?? (followers[0] as ClusterNode);
  },
};

export const parts: readonly Part[] = [leaderOfLog, metaLeader, follower];
