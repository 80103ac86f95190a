import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { streamName } from "../../src/event-log/subjects.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { answerTimeoutMs } from "../../src/nats/requests.ts";
import { startNats, type TestNats } from "../support/services.ts";

describe("a request, when the nodes of a cluster announce a new leader", () => {
  let nats: TestNats;
  let connection: JetStreamConnection;
  let stream: string;

  beforeEach(async () => {
    nats = await startNats();
    stream = streamName(nats.prefix, "JOBS");
    connection = await connectJetStream(nats.config, "test", () => {}, undefined, { asked: [stream] });
  });
  afterEach(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  const announceLeaderOf = async (which: string): Promise<void> => {
    await connection.nats.flush();
    connection.nats.publish(`$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.${which}`, "{}");
  };
  const answerAfter = (subject: string, ms: number): void => {
    connection.nats.subscribe(subject, {
      callback: (_, message) => void pause(ms).then(() => message.respond("answer")),
    });
  };
  /** What came of the request, and after how long. */
  const ask = async (subject: string): Promise<readonly [string, number]> => {
    const begunAt = performance.now();
    const came = await connection.request(subject, "").then(
      (answer) => answer.string(),
      ({ code }: { readonly code: string }) => code,
    );
    return [came, performance.now() - begunAt];
  };

  it("waits no longer for the former leader, which may never answer", async () => {
    answerAfter("former", 60_000);
    const asked = ask("former");
    await announceLeaderOf(stream);
    const [came, afterMs] = await asked;
    expect(came).to.equal("TIMEOUT");
    expect(afterMs).to.be.below(answerTimeoutMs - 500);
  });

  it("still gets an answer that comes in a moment", async () => {
    answerAfter("new", 100);
    const asked = ask("new");
    await announceLeaderOf(stream);
    expect((await asked)[0]).to.equal("answer");
  });

  it("waits as ever where it was made later, or the stream is another one", async () => {
    answerAfter("slow", 700);
    await announceLeaderOf(`${stream}_OF_ANOTHER`);
    const first = ask("slow");
    await announceLeaderOf(`${stream}_OF_ANOTHER`);
    expect((await first)[0]).to.equal("answer");
    await announceLeaderOf(stream);
    await connection.nats.flush();
    expect((await ask("slow"))[0]).to.equal("answer");
  });
});
