import { once } from "node:events";
import type { SMTPServer } from "smtp-server";
import {
  type Answer,
  type Behaviour,
  breakConnections,
  createScriptedSmtp,
  type DomainLimit,
  type ReceivedMail,
} from "./scripted-smtp.ts";

export type TestMailServer = {
  readonly url: string;
  readonly port: number;
  /** Every mail that the server took responsibility for, in that order. */
  readonly mails: readonly ReceivedMail[];
  /** Mails that are whole and wait for `release`; also those whose sender went away meanwhile. */
  readonly held: readonly ReceivedMail[];
  /** The most connections that were open at a time. */
  readonly mostConnections: number;
  /** How many there were in all. */
  readonly connections: number;
  /** Sets the answer to RCPT TO of an address (or `everybody`); null accepts again. */
  answerRecipient(address: string, answer: Answer | null): void;
  /** How many mails to a domain it takes in a second; null is as many as come. */
  limitDomain(domain: string, limit: DomainLimit | null): void;
  /** After the final dot of a mail to an address, until told otherwise; null is yes again. */
  answerMessage(address: string, answer: Answer | null): void;
  /** Takes a mail to this address and breaks the connection instead of answering: the sender cannot know. */
  takeInSilence(address: string): void;
  /** Breaks the connection at RCPT TO of this address. */
  hangUpOn(address: string): void;
  /** Greets every client with this answer, usually a 421; null restores the usual greeting. */
  greetWith(answer: Answer | null): void;
  /** Whether it hangs up when a mail begins to arrive: none of those is taken. */
  breakOff(isBreakingOff: boolean): void;
  /** How long each mail takes after its final dot. */
  slowDown(msPerMail: number): void;
  /** From now on no mail is answered after its final dot, until `release`. */
  hold(): void;
  release(): void;
  /** Breaks every connection. */
  disconnect(): void;
  forgetMails(): void;
  /** Refuses connections, as a server that is down. */
  stop(): Promise<void>;
  /** On the same port again. */
  start(): Promise<void>;
};

/** A mail server in this process that does what a test tells it, and remembers every mail byte for byte. */
export async function startMailServer(): Promise<TestMailServer> {
  const mails: ReceivedMail[] = [];
  const held: ReceivedMail[] = [];
  const behaviour: Behaviour = {
    atRecipient: new Map(),
    limits: new Map(),
    afterMessage: new Map(),
    inSilence: new Set(),
    hangsUpOn: new Set(),
    greeting: null,
    breaksOff: false,
    msPerMail: 0,
    isHolding: false,
    waiting: new Set(),
  };
  const connections = { most: 0, all: 0 };
  const create = (): SMTPServer => createScriptedSmtp({ behaviour, mails, held, connections });
  let server = create();
  const port = await listen(server, 0);
  let isListening = true;
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    held,
    get mostConnections() {
      return connections.most;
    },
    get connections() {
      return connections.all;
    },
    ...toOrders(behaviour),
    disconnect: () => breakConnections(server),
    forgetMails: () => {
      mails.length = 0;
      held.length = 0;
    },
    stop: async () => {
      if (!isListening) return;
      isListening = false;
      // A server that went down has answered for none of the mails that it held.
      behaviour.waiting.clear();
      held.length = 0;
      await close(server);
    },
    start: async () => {
      if (isListening) return;
      server = create();
      await listen(server, port);
      isListening = true;
    },
  };
}

type Orders = Pick<
  TestMailServer,
  | "answerRecipient"
  | "limitDomain"
  | "answerMessage"
  | "takeInSilence"
  | "hangUpOn"
  | "greetWith"
  | "breakOff"
  | "slowDown"
  | "hold"
  | "release"
>;

function toOrders(behaviour: Behaviour): Orders {
  const set = (answers: Map<string, Answer>, address: string, answer: Answer | null): void => {
    if (answer === null) answers.delete(address);
    else answers.set(address, answer);
  };
  return {
    answerRecipient: (address, answer) => set(behaviour.atRecipient, address, answer),
    limitDomain: (domain, limit) => {
      if (limit === null) behaviour.limits.delete(domain);
      else behaviour.limits.set(domain, limit);
    },
    answerMessage: (address, answer) => {
      behaviour.inSilence.delete(address);
      set(behaviour.afterMessage, address, answer);
    },
    takeInSilence: (address) => behaviour.inSilence.add(address),
    hangUpOn: (address) => behaviour.hangsUpOn.add(address),
    greetWith: (answer) => {
      behaviour.greeting = answer;
    },
    breakOff: (isBreakingOff) => {
      behaviour.breaksOff = isBreakingOff;
    },
    slowDown: (msPerMail) => {
      behaviour.msPerMail = msPerMail;
    },
    hold: () => {
      behaviour.isHolding = true;
    },
    release: () => {
      behaviour.isHolding = false;
      for (const letGo of [...behaviour.waiting]) letGo();
    },
  };
}

async function listen(server: SMTPServer, port: number): Promise<number> {
  const listener = server.listen(port, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function close(server: SMTPServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(resolve));
  breakConnections(server);
  await closed;
}
