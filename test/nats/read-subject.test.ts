import { expect } from "chai";
import { headers } from "nats";
import { lastMessageOf } from "../../src/nats/jetstream-api.ts";
import { readBack } from "../../src/nats/read-subject.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

describe("a long history on one subject", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let stream: string;
  let mailing: string;
  let last: number;

  before(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    stream = `${nats.prefix}_JOBS`;
    mailing = `${nats.prefix}.jobs.default.m.mailing`;
    last = 0;
  });
  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  /** Each names the one before it, with so many of other subjects behind it. */
  const append = async (count: number, others: number): Promise<readonly number[]> => {
    const js = opened.connection.nats.jetstream();
    const sequences: number[] = [];
    for (let done = 0; done < count; done += 1) {
      const named = headers();
      named.set("Nats-Expected-Last-Subject-Sequence", String(last));
      last = (await js.publish(mailing, "[]", { headers: named })).seq;
      sequences.push(last);
      await besides(others);
    }
    return sequences;
  };
  const besides = async (count: number): Promise<void> => {
    const js = opened.connection.nats.jetstream();
    await Promise.all(Array.from({ length: count }, () => js.publish(`${nats.prefix}.jobs.default.j.facts`, "[]")));
  };

  it("is read whole, and what was logged long before it is not looked through", async () => {
    await besides(3000);
    const imported = await append(10, 0);
    await besides(2000);
    const decided = await append(150, 1);
    const searchedFrom: number[] = [];
    let oneByOne = 0;
    opened.connection.nats.subscribe(`$JS.API.STREAM.MSG.GET.${stream}`, {
      callback: (_, { data }) => {
        const { seq, next_by_subj: subject } = JSON.parse(Buffer.from(data).toString());
        if (subject !== undefined) searchedFrom.push(seq);
        else if (seq !== undefined) oneByOne += 1;
      },
    });
    const newest = await lastMessageOf(opened.connection, stream, mailing);
    if (newest === null) throw new Error("There is no message.");
    const found = await readBack(opened.connection, stream, newest);
    await opened.connection.nats.flush();
    expect(found.map(({ sequence }) => sequence)).to.deep.equal([...imported, ...decided]);
    expect(oneByOne).to.be.lessThan(50);
    expect(Math.min(...searchedFrom)).to.be.greaterThan(3010);
  });
});
