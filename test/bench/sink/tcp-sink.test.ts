import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { createTransport } from "nodemailer";
import { createLifecycle, type Lifecycle } from "../../../src/process/lifecycle.ts";
import { type AskedProcess, startAskedProcess } from "../asked-process.ts";
import type { SinkOrder, SinkState } from "./tcp-sink.ts";

describe("the benchmark's own sink", () => {
  let lifecycle: Lifecycle;
  let sink: AskedProcess<SinkOrder, SinkState>;
  let port: number;

  before(async () => {
    lifecycle = createLifecycle(() => {});
    sink = startAskedProcess<SinkOrder, SinkState>(lifecycle, new URL("tcp-sink.ts", import.meta.url));
    port = (await sink.ask({ msPerMail: 0 })).result.port;
  });
  after(() => lifecycle.stop());

  const mailsTakenDuring = async (work: () => Promise<void>): Promise<number> => {
    const before = (await sink.ask({ msPerMail: 0 })).result.mails;
    await work();
    return (await sink.ask({ msPerMail: 0 })).result.mails - before;
  };

  it("takes what nodemailer's pool sends, lines of a dot among it", async () => {
    const transport = createTransport({ host: "127.0.0.1", port, pool: true, maxConnections: 3 } as object);
    const mail = { from: "a@example.org", to: "b@example.org", subject: "s", text: "one\r\n.\r\n..two\r\n" };
    const taken = await mailsTakenDuring(async () => {
      await Promise.all(Array.from({ length: 12 }, () => transport.sendMail(mail)));
    });
    transport.close();
    expect(taken).to.equal(12);
  });

  it("finds the end of a mail that comes a byte at a time, and of one without a line", async () => {
    const taken = await mailsTakenDuring(async () => {
      const socket = connect(port, "127.0.0.1").setNoDelay(true);
      for (const byte of "EHLO me\r\nDATA\r\ntext\r\n.\r\nDATA\r\n.\r\nQUIT\r\n") socket.write(byte);
      socket.resume();
      await once(socket, "close");
    });
    expect(taken).to.equal(2);
  });
});
