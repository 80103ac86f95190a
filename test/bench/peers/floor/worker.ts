import type { Msg } from "nats";
import { answerOrders } from "../../answer-orders.ts";
import { sender } from "../../the-mail.ts";
import { type Content, type Turn, toEntry } from "./entries.ts";
import {
  connectTo,
  createAsk,
  guardedBy,
  type NatsServer,
  pull,
  readLast,
  store,
  streams,
  subjects,
} from "./jetstream.ts";
import { type MailConnection, openMailConnection } from "./mail-connection.ts";

export type FloorWorkerOrder = NatsServer & { readonly smtpPort: number };

/** As many as Waybill's worker has. */
const connections = 10;
/** Turns at a time, as one waits for the log for most of its time. */
const turnsAtOnce = 32;
const envelopeSender = /<(.+)>/.exec(sender)?.[1] ?? sender;

/** A turn: the content is read, the recipient claimed with the start, mailed, and recorded with the end. */
answerOrders<FloorWorkerOrder, null>(async ({ smtpPort, ...server }) => {
  const nats = await connectTo(server);
  const ask = createAsk(nats);
  const free = await Promise.all(Array.from({ length: connections }, () => openMailConnection(smtpPort)));
  const waiting: ((connection: MailConnection) => void)[] = [];
  const withConnection = async <Result>(work: (connection: MailConnection) => Promise<Result>): Promise<Result> => {
    const connection = free.pop() ?? (await new Promise<MailConnection>((resolve) => waiting.push(resolve)));
    const result = await work(connection);
    const next = waiting.shift();
    if (next === undefined) free.push(connection);
    else next(connection);
    return result;
  };

  const work = async ({ jobId, after }: Turn): Promise<void> => {
    const { subject, body, recipients }: Content = (
      await readLast(ask, streams.contents, subjects.contentOf(jobId))
    ).json();
    const attempt = { run: 1, attempt: 1, worker: "floor" };
    const start = toEntry(jobId, [
      ["JobStarted", attempt],
      ["RecipientsClaimed", { ...attempt, recipients: [0] }],
    ]);
    const started = await store(ask, subjects.entriesOf(jobId), start, guardedBy(after));
    const to = recipients[0] ?? "";
    const messageId = `<${jobId}.0@example.org>`;
    const letter = [
      `From: ${sender}`,
      `To: ${to}`,
      `Subject: ${subject}`,
      `Message-ID: ${messageId}`,
      `Date: ${new Date().toUTCString()}`,
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "",
      body,
    ].join("\r\n");
    const response = await withConnection((connection) => connection.send(envelopeSender, to, letter));
    const end = toEntry(jobId, [
      ["RecipientSent", { run: 1, attempt: 1, recipient: 0, messageId, response }],
      ["JobCompleted", { ...attempt, counts: { total: 1, sent: 1, failed: 0 } }],
    ]);
    await store(ask, subjects.entriesOf(jobId), end, guardedBy(started));
  };

  const take = (message: Msg): void => {
    // A status says that the time of the request was up, long after the measurement.
    if (message.data.length === 0) return;
    // A failure ends the process, and with it the measurement.
    void work(message.json()).then(() => {
      if (message.reply) nats.publish(message.reply, "+ACK");
      turns.more(1);
    });
  };
  const turns = pull(nats, streams.turns, "workers", take);
  turns.more(turnsAtOnce);
  return null;
});
