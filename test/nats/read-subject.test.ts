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

  /** Each names the one before it, with so many of other subjects behind it; and what `namedOf` picks of those before it. */
  const append = async (
    count: number,
    others: number,
    namedOf?: (sequences: readonly number[]) => readonly number[],
  ): Promise<readonly number[]> => {
    const js = opened.connection.nats.jetstream();
    const sequences: number[] = [];
    for (let done = 0; done < count; done += 1) {
      const named = headers();
      named.set("Nats-Expected-Last-Subject-Sequence", String(last));
      if (namedOf !== undefined && done > 0) named.set("Waybill-Before", namedOf(sequences).join(","));
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

  /** What is asked of the stream from now on: searches, and messages by their sequences. */
  const countRequests = () => {
    const searchedFrom: number[] = [];
    const bySequence: number[] = [];
    opened.connection.nats.subscribe(`$JS.API.STREAM.MSG.GET.${stream}`, {
      callback: (_, { data }) => {
        const { seq, next_by_subj: subject } = JSON.parse(Buffer.from(data).toString());
        if (subject !== undefined) searchedFrom.push(seq);
        else if (seq !== undefined) bySequence.push(seq);
      },
    });
    return { searchedFrom, bySequence };
  };
  const readAll = async (): Promise<readonly number[]> => {
    const newest = await lastMessageOf(opened.connection, stream, mailing);
    if (newest === null) throw new Error("There is no message.");
    const found = await readBack(opened.connection, stream, newest);
    await opened.connection.nats.flush();
    return found.map(({ sequence }) => sequence);
  };

  it("is read whole, and what was logged long before it is not looked through", async () => {
    await besides(3000);
    const imported = await append(10, 0);
    await besides(2000);
    const decided = await append(150, 1);
    const { searchedFrom, bySequence } = countRequests();
    expect(await readAll()).to.deep.equal([...imported, ...decided]);
    expect(bySequence).to.have.length.below(50);
    expect(Math.min(...searchedFrom)).to.be.greaterThan(3010);
  });

  it("is read without a search where the messages name more than the one before them", async () => {
    const before = await readAll();
    const decided = await append(200, 3, (sequences) => sequences.slice(-64));
    const { searchedFrom, bySequence } = countRequests();
    expect(await readAll()).to.deep.equal([...before, ...decided]);
    const began = decided[0] ?? 0;
    expect(searchedFrom.filter((from) => from > began)).to.deep.equal([]);
    expect(new Set(bySequence.filter((sequence) => sequence >= began)).size).to.equal(199);
  });

  it("is read whole where they name others than were before them", async () => {
    const before = await readAll();
    const [missing, foreign] = [1_000_000, 1];
    const wrong = await append(40, 1, (sequences) => [foreign, ...sequences.slice(-5), missing]);
    const gaps = await append(40, 1, (sequences) => sequences.filter((_, index) => index % 3 !== 0));
    expect(await readAll()).to.deep.equal([...before, ...wrong, ...gaps]);
  });
});
