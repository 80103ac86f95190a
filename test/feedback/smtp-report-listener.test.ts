import { createSecretKey, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { maxReportBytes, type RawReport, readBytes } from "../../src/feedback/raw-report.ts";
import {
  type ReportListener,
  type ReportListenerSettings,
  startReportListener,
} from "../../src/feedback/smtp-report-listener.ts";
import { createComposer } from "../../src/mail/compose-letter.ts";
import { createIsOurs, createMailTokens } from "../../src/mail/return-path.ts";
import { mailTo } from "../mail/letters.ts";
import { sendBack } from "../support/came-back.ts";
import { eventually } from "../support/eventually.ts";

type Taken = { readonly raw: RawReport; readonly to: readonly string[] };

/** A client that writes lines, and reads the last line of each answer. */
async function openClient(port: number) {
  const socket: Socket = connect(port, "127.0.0.1");
  // A server that hangs up is what some of these tests are about.
  socket.on("error", () => {});
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const answer = async (): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) return "closed";
      if (!/^\d{3}-/.test(value)) return value;
    }
  };
  const say = async (line: string): Promise<string> => {
    socket.write(`${line}\r\n`);
    return await answer();
  };
  return { socket, answer, say, greeting: await answer() };
}

describe("The listener for mails that come back", () => {
  let listener: ReportListener;
  let taken: Taken[];
  let failures: unknown[];
  let failsWith: Error | null;
  let isOurs: (address: string) => boolean;
  const start = async (settings: Partial<ReportListenerSettings> = {}) => {
    listener = await startReportListener(
      { host: "127.0.0.1", port: 0, isLmtp: false, ...settings },
      (address) => isOurs(address),
      async (raw, to) => {
        if (failsWith !== null) throw failsWith;
        taken.push({ raw, to });
      },
      (failure) => failures.push(failure),
    );
    return listener.port;
  };
  beforeEach(() => {
    [taken, failures, failsWith] = [[], [], null];
    isOurs = (address) => address.startsWith("bounces+ours");
  });
  afterEach(() => listener.stop());

  it("takes LMTP, and answers for each recipient", async () => {
    const { say, answer, greeting, socket } = await openClient(await start({ isLmtp: true }));
    expect(greeting).to.match(/^220 .*LMTP/);
    expect(await say("LHLO mail.example.org")).to.match(/^250/);
    expect(await say("MAIL FROM:<>")).to.match(/^250/);
    expect(await say("RCPT TO:<bounces+ours1@b.example.org>")).to.match(/^250/);
    expect(await say("RCPT TO:<bounces+theirs@b.example.org>")).to.match(/^550 5\.1\.1/);
    expect(await say("RCPT TO:<bounces+ours2@b.example.org>")).to.match(/^250/);
    expect(await say("DATA")).to.match(/^354/);
    socket.write("Subject: x\r\n\r\nIt came back.\r\n.\r\n");
    expect([await answer(), await answer()].join()).to.match(/^250 .*,250 /);
    expect(taken.map(({ to }) => to)).to.deep.equal([["bounces+ours1@b.example.org", "bounces+ours2@b.example.org"]]);
    expect(await say("QUIT")).to.match(/^221/);
  });

  for (const domain of ["büro.example", "xn--bro-hoa.example"]) {
    it(`takes what mail servers send to xn--bro-hoa.example where the settings have ${domain}`, async () => {
      const tokens = createMailTokens(createSecretKey(Buffer.alloc(32, 7)));
      const token = tokens.of({ jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" })?.(3);
      isOurs = createIsOurs(tokens, `bounces@${domain}`, [`fbl@${domain}`]);
      const { say, socket } = await openClient(await start());
      for (const line of ["EHLO x.example", "MAIL FROM:<>"]) await say(line);
      const answers: string[] = [];
      for (const local of [`bounces+${token}`, "fbl", "bounces+x"]) {
        answers.push(await say(`RCPT TO:<${local}@xn--bro-hoa.example>`));
      }
      expect(answers.map((answer) => answer.slice(0, 3))).to.deep.equal(["250", "250", "550"]);
      socket.destroy();
    });
  }

  it("takes a report that encloses the whole of the largest mail", async () => {
    const attached = {
      filename: "a.bin",
      contentId: null,
      contentType: "application/octet-stream",
      bytes: randomBytes(5 * 1024 * 1024),
    };
    const texts = { html: `<p>${"aüßb".repeat(160_000)}</p>`, text: "x" };
    const mail = mailTo("ada@example.com", { ...texts, attachments: [attached] });
    const { messageOf } = await createComposer(null)(mail.letter);
    const enclosed = Buffer.concat([...(await messageOf(mail, new Date()))]).toString("latin1");
    const raw = `From: MAILER-DAEMON@x.example\r\nContent-Type: multipart/report; boundary=r\r\n\r\n--r\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n\r\n--r\r\nContent-Type: message/rfc822\r\n\r\n${enclosed}\r\n--r--\r\n`;
    expect(await sendBack(await start(), "bounces+ours@b.example.org", raw)).to.match(/^250/);
    expect(taken[0]?.raw.bytes).to.be.greaterThan(9_000_000);
  });

  it("asks the sender to come again where a report could not be recorded", async () => {
    failsWith = new Error("NATS is away");
    const { say, socket, answer } = await openClient(await start());
    for (const line of ["EHLO x.example", "MAIL FROM:<>", "RCPT TO:<bounces+ours@b.example.org>"]) await say(line);
    expect(await say("DATA")).to.match(/^354/);
    socket.write("x\r\n.\r\n");
    expect(await answer()).to.match(/^451/);
    expect(failures).to.deep.equal([failsWith]);
    socket.destroy();
  });

  it("ends a connection that tries a hundred addresses of no mail", async () => {
    const { say } = await openClient(await start());
    for (const line of ["EHLO x.example", "MAIL FROM:<>"]) await say(line);
    const answers: string[] = [];
    while (answers.at(-1) !== "closed" && answers.length < 1000) {
      answers.push(await say(`RCPT TO:<bounces+theirs${answers.length}@b.example.org>`));
    }
    expect(answers.filter((line) => line.startsWith("550"))).to.have.length(99);
    expect(answers.slice(99)).to.have.length(2);
    expect(answers[99]).to.match(/^421 4\.7\.0/);
  });

  it("leaves room for others beside a sender with many connections", async () => {
    const port = await start();
    const clients = await Promise.all(Array.from({ length: 55 }, () => openClient(port)));
    const refused = clients.filter(({ greeting }) => greeting.startsWith("421"));
    expect(refused).to.have.length(5);
    for (const { socket } of clients) socket.destroy();
    await eventually(async () => {
      const { greeting, socket } = await openClient(port);
      socket.destroy();
      expect(greeting).to.match(/^220/);
    });
  });

  it("ends a connection that goes on for ever, however little it says", async () => {
    const { socket } = await openClient(await start({ longestConnectionMs: 300 }));
    const talking = setInterval(() => socket.write("NOOP\r\n"), 20);
    // What is written after the end is answered with a reset.
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(talking);
  });

  it("says nothing to operators of a sender that hung up in the middle of its mail", async () => {
    const { say, socket } = await openClient(await start());
    for (const line of ["EHLO x.example", "MAIL FROM:<>", "RCPT TO:<bounces+ours@b.example.org>", "DATA"])
      await say(line);
    socket.write("Subject: x\r\n");
    socket.destroy();
    const { say: sayMore, socket: another, answer } = await openClient(listener.port);
    for (const line of ["EHLO x.example", "MAIL FROM:<>", "RCPT TO:<bounces+ours@b.example.org>", "DATA"])
      await sayMore(line);
    another.write("x\r\n.\r\n");
    expect(await answer()).to.match(/^250/);
    another.destroy();
    expect(failures).to.deep.equal([]);
  });

  it("keeps the beginning of a mail alone, and refuses one of 25 MB after its end", async () => {
    const { say, socket, answer } = await openClient(await start());
    await say("EHLO x.example");
    const send = async (bytes: number): Promise<string> => {
      for (const line of ["MAIL FROM:<>", "RCPT TO:<bounces+ours@b.example.org>", "DATA"]) await say(line);
      for (let left = bytes; left > 0; left -= 1_000_000) {
        if (!socket.write(`${"x".repeat(998)}\r\n`.repeat(1000))) await once(socket, "drain");
      }
      socket.write(".\r\n");
      return await answer();
    };
    expect(await send(25_000_000)).to.match(/^552/);
    expect(taken).to.deep.equal([]);
    expect(await send(4_000_000)).to.match(/^250/);
    const [{ raw }] = taken as [Taken];
    expect(raw.bytes).to.be.within(4_000_000, maxReportBytes);
    expect(raw.head.length).to.equal(readBytes);
    expect(raw.head.buffer.byteLength).to.be.at.most(2 * readBytes);
    socket.destroy();
  });
});
