import { connect, type NatsConnection } from "nats";
import { streamName } from "../../../src/event-log/subjects.ts";
import type { NatsCluster } from "../nats-cluster.ts";

/** When the nodes had elected a leader of something that a POST needs, or a mail, by the clock of `performance`, in order. */
export type Elections = {
  readonly ofPosts: () => readonly number[];
  readonly ofMails: () => readonly number[];
  close(): Promise<void>;
};

/** Listens at every node: one that is cut off says nothing, and one that was killed is listened to again. */
export async function watchElections({ nodes, prefix }: NatsCluster): Promise<Elections> {
  const name = (stream: Parameters<typeof streamName>[1]): string => streamName(prefix, stream);
  const stream = (stream: string): string => `STREAM.LEADER_ELECTED.${stream}`;
  const forPosts = new Set([stream(name("JOBS")), stream(name("CONTENT"))]);
  const forMails = new Set([...forPosts, stream(name("TURNS")), stream(`KV_${prefix}_CHECKPOINTS`)]);
  const lanes = `CONSUMER.LEADER_ELECTED.${name("TURNS")}.email-send-`;
  const [ofPosts, ofMails]: [number[], number[]] = [[], []];
  const heard = (what: string): void => {
    const at = performance.now();
    if (forPosts.has(what)) ofPosts.push(at);
    if (forMails.has(what) || what.startsWith(lanes)) ofMails.push(at);
  };
  const listening = async (servers: readonly string[]): Promise<NatsConnection> => {
    const connection = await connect({ servers: [...servers], ignoreClusterUpdates: true, maxReconnectAttempts: -1 });
    const advisories = "$JS.EVENT.ADVISORY.";
    connection.subscribe(`${advisories}*.LEADER_ELECTED.>`, {
      callback: (_, { subject }) => heard(subject.slice(advisories.length)),
    });
    return connection;
  };
  const connections = await Promise.all(nodes.map(({ config }) => listening(config.servers)));
  return {
    ofPosts: () => ofPosts,
    ofMails: () => ofMails,
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}
