import { expect } from "chai";
import type { PeerInfo, StreamInfo } from "nats";
import { describeCopies } from "../../src/health/examine-copies.ts";

const current: Omit<PeerInfo, "name"> = { current: true, offline: false, active: 400_000_000, lag: 0 };
const secondNanos = 1_000_000_000;

/** Of three copies, led by n1. */
const stream = (name: string, followers: Readonly<Record<string, Partial<PeerInfo>>>, leader = "n1"): StreamInfo =>
  ({
    config: { name, num_replicas: 3 },
    cluster: {
      leader,
      replicas: Object.entries(followers).map(([node, more]) => ({ ...current, ...more, name: node })),
    },
  }) as unknown as StreamInfo;

const whole = (name: string): StreamInfo => stream(name, { n2: {}, n3: {} });

describe("the copies of streams that a cluster reports", () => {
  const linesOf = (names: readonly string[], found: readonly StreamInfo[]): readonly string[] =>
    describeCopies(names, found, { streams: ["JOBS", "KV_ACCESS"], replicas: 3 }).map(
      ({ level, what }) => `${level}: ${what}`,
    );

  it("are fine where each stream has all of them, and the nodes are named", () => {
    expect(linesOf(["JOBS", "CONTENT"], [whole("JOBS"), whole("CONTENT")])).to.deep.equal([
      "fine: All copies of 2 streams are up to date, on n1, n2, n3",
    ]);
  });

  it("name a node that is away once, with all its streams: one that said goodbye, and one that has fallen silent", () => {
    const found = [
      stream("JOBS", { n2: {}, n3: { offline: true } }),
      stream("CONTENT", { n2: { active: 9 * secondNanos }, n3: { offline: true } }),
    ];
    expect(linesOf(["JOBS", "CONTENT"], found)).to.deep.equal([
      "serious: Node n3 is away, with its copies of: CONTENT, JOBS",
      "serious: Node n2 is away, with its copies of: CONTENT",
    ]);
  });

  it("name a node that is behind", () => {
    expect(linesOf(["JOBS"], [stream("JOBS", { n2: { current: false }, n3: {} })])).to.deep.equal([
      "serious: Node n2 is behind with its copies of: JOBS",
    ]);
  });

  it("are too few where no node has taken the place of one that was removed", () => {
    expect(linesOf(["JOBS", "CONTENT"], [stream("JOBS", { n2: {} }), whole("CONTENT")])).to.deep.equal([
      "serious: These streams have 2 of 3 copies: JOBS",
    ]);
  });

  it("are too few where a stream was made with fewer than the setting says, but for those of others", () => {
    const ofOne = (name: string): StreamInfo =>
      ({ config: { name, num_replicas: 1 }, cluster: { leader: "n1" } }) as unknown as StreamInfo;
    expect(linesOf(["JOBS"], [whole("JOBS"), ofOne("KV_ACCESS"), ofOne("OTHER")])).to.deep.equal([
      "serious: These streams are made for 1 of the 3 copies of STREAM_REPLICAS: KV_ACCESS",
    ]);
  });

  it("store nothing where a stream has no leader, or does not answer", () => {
    expect(linesOf(["JOBS", "CONTENT"], [stream("JOBS", { n2: {}, n3: {} }, "")])).to.deep.equal([
      "serious: No node leads these streams, so they store nothing: CONTENT, JOBS",
    ]);
  });

  it("are no matter before there is a stream", () => {
    expect(linesOf([], [])).to.deep.equal([]);
  });
});
