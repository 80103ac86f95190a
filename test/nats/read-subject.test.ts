import { expect } from "chai";
import { headers } from "nats";
import { lastMessageOf } from "../../src/nats/jetstream-api.ts";
import { readBack } from "../../src/nats/read-subject.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

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

  const whatIsAsked = () => {
    const asked = { searchedFrom: [] as number[], oneByOne: 0 };
    opened.connection.nats.subscribe(`$JS.API.STREAM.MSG.GET.${stream}`, {
      callback: (_, { data }) => {
        const { seq, next_by_subj: subject } = JSON.parse(Buffer.from(data).toString());
        if (subject !== undefined) asked.searchedFrom.push(seq);
        else if (seq !== undefined) asked.oneByOne += 1;
      },
    });
    return asked;
  };
  const readBy = async ({ connection }: OpenedLog): Promise<readonly number[]> => {
    const newest = await lastMessageOf(connection, stream, mailing);
    if (newest === null) throw new Error("There is no message.");
    const found = await readBack(connection, stream, newest);
    await opened.connection.nats.flush();
    return found.map(({ sequence }) => sequence);
  };

  it("is read whole, near by and in parts where answers take long", async () => {
    await besides(3000);
    const imported = await append(10, 0);
    await besides(2000);
    const decided = await append(150, 1);
    expect(await readBy(opened)).to.deep.equal([...imported, ...decided]);

    const asked = whatIsAsked();
    const [host = "", port] = (nats.config.servers[0] ?? "").split(":");
    const proxy = await startTcpProxy({ host, port: Number(port) });
    const far = await openJetStreamLog({ ...nats.config, servers: [`127.0.0.1:${proxy.port}`] }, nats.prefix);
    try {
      proxy.delayAnswers(30);
      expect(await readBy(far)).to.deep.equal([...imported, ...decided]);
    } finally {
      await far.close();
      await proxy.stop();
    }
    expect(asked.oneByOne).to.be.lessThan(50);
    // What was logged long before the mailing is not looked through.
    expect(Math.min(...asked.searchedFrom)).to.be.greaterThan(3010);
  });
});
