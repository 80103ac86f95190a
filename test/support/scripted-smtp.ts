import { setTimeout as pause } from "node:timers/promises";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";

export type ReceivedMail = {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
  /** As the header says, with its angle brackets; null where there is none. */
  readonly messageId: string | null;
  readonly receivedAt: Date;
};

/** What the server answers instead of yes: `{ code: 550, text: "5.1.1 no such user" }`. */
export type Answer = { readonly code: number; readonly text: string };

/** In the place of an address: whatever the address. What was said of one address goes before. */
export const everybody = "*";

/** The most mails of a domain that the server takes in a second, and what it answers to the others. */
export type DomainLimit = { readonly perSecond: number; readonly answer: Answer };

/** What a test told the server to do, looked at anew for each mail. */
export type Behaviour = {
  readonly atRecipient: Map<string, Answer>;
  readonly limits: Map<string, DomainLimit>;
  readonly afterMessage: Map<string, Answer>;
  readonly inSilence: Set<string>;
  /** At RCPT, without a word. */
  readonly hangsUpOn: Set<string>;
  greeting: Answer | null;
  /** Hangs up as soon as a mail begins to arrive, before it has read it. */
  breaksOff: boolean;
  msPerMail: number;
  isHolding: boolean;
  readonly waiting: Set<() => void>;
};

type Parts = {
  readonly behaviour: Behaviour;
  readonly mails: ReceivedMail[];
  readonly held: ReceivedMail[];
  readonly connections: { most: number; all: number };
};

/** The server itself: it does what `behaviour` says at the moment, and adds to `mails` what it took. */
export function createScriptedSmtp({ behaviour, mails, held, connections }: Parts): SMTPServer {
  const isAboveLimit = createDomainCounts();
  const server: SMTPServer = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    hideSize: true,
    logger: false,
    closeTimeout: 1,
    onConnect: (_session, answer) => {
      connections.all += 1;
      connections.most = Math.max(connections.most, server.connections.size);
      answer(toError(behaviour.greeting));
    },
    onRcptTo: ({ address }, session, answer) => {
      if (behaviour.hangsUpOn.has(address)) return breakConnections(server, session.id);
      const domain = address.slice(address.lastIndexOf("@") + 1);
      const limit = behaviour.limits.get(domain);
      if (limit !== undefined && isAboveLimit(domain, limit.perSecond)) return answer(toError(limit.answer));
      answer(toError(answerTo(behaviour.atRecipient, address)));
    },
    onData: (stream, session, answer) => {
      if (behaviour.breaksOff) return breakConnections(server, session.id);
      void receive(stream, session).then(async (mail) => {
        await takeTime(behaviour, held, mail);
        const refusal = mail.to.map((address) => answerTo(behaviour.afterMessage, address)).find((found) => found);
        if (refusal !== undefined) return answer(toError(refusal));
        mails.push(mail);
        if ([everybody, ...mail.to].some((address) => behaviour.inSilence.has(address))) {
          return breakConnections(server, session.id);
        }
        answer(null, "2.0.0 accepted");
      }, answer);
    },
  });
  // Clients that vanish are what these tests are about.
  server.on("error", () => {});
  return server;
}

/** Counts what it lets through, in each second anew. */
function createDomainCounts(): (domain: string, perSecond: number) => boolean {
  const counts = new Map<string, { second: number; taken: number }>();
  return (domain, perSecond) => {
    const second = Math.floor(Date.now() / 1000);
    const known = counts.get(domain);
    const taken = known?.second === second ? known.taken : 0;
    if (taken >= perSecond) return true;
    counts.set(domain, { second, taken: taken + 1 });
    return false;
  };
}

async function receive(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<ReceivedMail> {
  // The envelope is emptied for the next mail of the connection as soon as this one is answered.
  const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
  const to = envelope.rcptTo.map(({ address }) => address);
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const header = raw.subarray(0, Math.max(raw.indexOf("\r\n\r\n"), 0)).toString("latin1");
  const messageId = /^Message-ID:\s*(<[^>]*>)/im.exec(header)?.[1] ?? null;
  return { from, to, raw, messageId, receivedAt: new Date() };
}

async function takeTime({ msPerMail, isHolding, waiting }: Behaviour, held: ReceivedMail[], mail: ReceivedMail) {
  if (msPerMail > 0) await pause(msPerMail);
  if (!isHolding) return;
  held.push(mail);
  await new Promise<void>((resolve) => {
    const letGo = (): void => {
      waiting.delete(letGo);
      resolve();
    };
    waiting.add(letGo);
  });
  held.splice(held.indexOf(mail), 1);
}

const answerTo = (answers: ReadonlyMap<string, Answer>, address: string): Answer | undefined =>
  answers.get(address) ?? answers.get(everybody);

const toError = (answer: Answer | null | undefined): Error | null =>
  answer ? Object.assign(new Error(answer.text), { responseCode: answer.code }) : null;

export function breakConnections(server: SMTPServer, sessionId?: string): void {
  for (const connection of server.connections) {
    if (sessionId === undefined || connection.session.id === sessionId) connection._socket.destroy();
  }
}
