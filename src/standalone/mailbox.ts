import { once } from "node:events";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import type { AnswerRecipient } from "./demo-answers.ts";
import { subjectOf } from "./mail-subject.ts";

export type CaughtMail = {
  readonly id: string;
  readonly receivedAt: Date;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly raw: Buffer;
};

/** Catches all mail and delivers none. Keeps at most 1000 mails and 64 MiB, and drops the oldest first. */
export type Mailbox = {
  readonly smtpUrl: string;
  /** The newest first. */
  list(): readonly CaughtMail[];
  find(id: string): CaughtMail | null;
  stop(): Promise<void>;
};

const maxMails = 1000;
const maxBytes = 64 * 1024 * 1024;

const takesEverything: AnswerRecipient = () => null;

/** Starts a mail server that only this machine can reach, on a free port. For the demo it refuses some mails. */
export async function startMailbox(answerRecipient: AnswerRecipient = takesEverything): Promise<Mailbox> {
  const mails = createMailStore();
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    logger: false,
    size: maxBytes / 2,
    // Senders keep connections open between mailings; a connection that the mailbox closes would cause them an error.
    socketTimeout: 3_600_000,
    closeTimeout: 1000,
    onRcptTo: ({ address }, _session, answer) => {
      const refusal = answerRecipient(address);
      answer(refusal === null ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
    },
    onData: (stream, session, answer) => {
      receive(stream, session).then(
        (mail) => answer(null, mails.add(mail)),
        (failure) => answer(failure),
      );
    },
  });
  // A client that drops its connection is not an error of the mailbox.
  server.on("error", () => {});
  const listener = server.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    list: mails.list,
    find: mails.find,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

type NewMail = Omit<CaughtMail, "id">;

function createMailStore() {
  // A Map keeps the order of insertion, so the oldest mail is always the first.
  const mails = new Map<string, CaughtMail>();
  let bytes = 0;
  let count = 0;
  const dropOldest = (): void => {
    const oldest = mails.values().next().value;
    if (oldest === undefined) return;
    mails.delete(oldest.id);
    bytes -= oldest.raw.length;
  };
  return {
    /** Returns the answer of the mail server. */
    add: (mail: NewMail): string => {
      count += 1;
      const id = String(count);
      mails.set(id, { id, ...mail });
      bytes += mail.raw.length;
      while (mails.size > maxMails || bytes > maxBytes) dropOldest();
      return `2.0.0 caught as ${id}`;
    },
    list: (): readonly CaughtMail[] => [...mails.values()].reverse(),
    find: (id: string): CaughtMail | null => mails.get(id) ?? null,
  };
}

async function receive(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<NewMail> {
  const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
  const to = envelope.rcptTo.map(({ address }) => address);
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  if (stream.sizeExceeded) {
    throw Object.assign(new Error("5.3.4 too large for this mailbox"), { responseCode: 552 });
  }
  const raw = Buffer.concat(chunks);
  return { receivedAt: new Date(), from, to, subject: subjectOf(raw), raw };
}
