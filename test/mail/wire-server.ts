import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setImmediate as pause } from "node:timers/promises";
import { expect } from "chai";
import type { Mail, Mailer } from "../../src/mail/mailer.ts";

/** A point of the conversation: the greeting, a command by its verb, the first bytes of a message, its end. */
type Moment =
  | "greeting"
  | "EHLO"
  | "AUTH"
  | "STARTTLS"
  | "MAIL"
  | "RCPT"
  | "DATA"
  | "body"
  | "dot"
  | "BDAT"
  | "RSET"
  | "QUIT";
/** A reply, its line end left out, or bytes as they are. */
type Reaction = string | Buffer | "hang up" | "say nothing" | "stop reading";

/** What clients said, in the order in which it arrived. */
type Heard = {
  readonly commands: string[];
  /** Each message as it went over the wire: after DATA with its stuffed dots and without the final one, after BDAT whole. */
  readonly messages: Buffer[];
  /** How often something arrived. */
  reads: number;
};

/** Expects that the mailer can send a mail, over the connection of this number. */
export async function expectSent(mailer: Mailer, mail: Mail, server: WireServer, connection: number): Promise<void> {
  expect(await mailer.send(mail)).to.include({ kind: "sent" });
  expect(server.connections()).to.equal(connection);
}

export type WireServer = {
  readonly url: string;
  readonly port: number;
  readonly heard: Heard;
  /** The number of connections so far. */
  readonly connections: () => number;
  readonly openConnections: () => number;
  /** From now on, at this moment; null is the usual reply again. */
  readonly always: (moment: Moment, reaction: Reaction | null) => void;
  /** The next time that this moment comes. */
  readonly next: (moment: Moment, reaction: Reaction) => void;
  /** From now on every byte that it says arrives by itself. */
  readonly sayByteByByte: () => void;
  /** From now on it reads a chunk as commands. */
  readonly ignoreChunks: () => void;
  /** To every client at once, without having been asked; then it hangs up. */
  readonly sayGoodbye: (reply: string) => void;
  readonly stop: () => Promise<void>;
};

type Script = {
  readonly always: Map<Moment, Reaction>;
  readonly next: Map<Moment, Reaction[]>;
  isByteByByte: boolean;
  knowsChunks: boolean;
};

const usualReplies: Readonly<Record<Moment, string>> = {
  greeting: "220 wire",
  EHLO: "250-wire\r\n250-PIPELINING\r\n250-SMTPUTF8\r\n250 8BITMIME",
  AUTH: "235 2.7.0 welcome",
  STARTTLS: "502 5.5.1 unknown",
  MAIL: "250 2.1.0 OK",
  RCPT: "250 2.1.5 OK",
  DATA: "354 go on",
  body: "",
  dot: "250 2.0.0 accepted",
  /** Once the chunk is there. */
  BDAT: "250 2.0.0 accepted",
  RSET: "250 2.0.0 OK",
  QUIT: "221 2.0.0 bye",
};

/** An SMTP server of bytes and lines only: it does what a test says at any moment, and keeps what was said to it. */
export async function startWireServer(): Promise<WireServer> {
  const script: Script = { always: new Map(), next: new Map(), isByteByByte: false, knowsChunks: true };
  const heard: Heard = { commands: [], messages: [], reads: 0 };
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true));
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    connections += 1;
    converse(socket, heard, script);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    heard,
    connections: () => connections,
    openConnections: () => sockets.size,
    always: (moment, reaction) => {
      if (reaction === null) script.always.delete(moment);
      else script.always.set(moment, reaction);
    },
    next: (moment, reaction) => {
      script.next.set(moment, [...(script.next.get(moment) ?? []), reaction]);
    },
    sayByteByByte: () => {
      script.isByteByByte = true;
    },
    ignoreChunks: () => {
      script.knowsChunks = false;
    },
    sayGoodbye: (reply) => {
      for (const socket of sockets) socket.end(`${reply}\r\n`);
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const messageEnd = "\r\n.\r\n";

function converse(socket: Socket, heard: Heard, script: Script): void {
  const { commands, messages } = heard;
  let unread = Buffer.alloc(0);
  /** What came after it, of a message whose end is not there yet: a long one is put together only once. */
  let rest: Buffer[] = [];
  let isInMessage = false;
  let chunkBytes: number | null = null;
  let said = Promise.resolve();
  const say = (bytes: Buffer): void => {
    if (!script.isByteByByte) return void socket.write(bytes);
    for (const byte of bytes) {
      said = said.then(async () => {
        socket.write(Buffer.of(byte));
        await pause();
      });
    }
  };
  const react = (moment: Moment): string => {
    const reaction =
      script.next.get(moment)?.shift() ?? script.always.get(moment) ?? usualReplies[moment] ?? "500 5.5.2 unknown";
    if (reaction === "hang up") socket.destroy();
    else if (reaction === "stop reading") socket.pause();
    else if (Buffer.isBuffer(reaction)) say(reaction);
    else if (reaction !== "say nothing" && reaction !== "") say(Buffer.from(`${reaction}\r\n`));
    return reaction.toString();
  };
  /** The next whole thing that was said, without what ends it; null while there is none. */
  const take = (end: string): Buffer | null => {
    const at = unread.indexOf(end);
    if (at < 0) return null;
    const taken = unread.subarray(0, at);
    unread = unread.subarray(at + end.length);
    return taken;
  };
  const readMessage = (): boolean => {
    // A message without any line ends with its first one.
    const message = unread.indexOf(".\r\n") === 0 ? take(".\r\n") : take(messageEnd);
    if (message === null) return false;
    isInMessage = false;
    messages.push(message);
    react("dot");
    return true;
  };
  const readChunk = (bytes: number): boolean => {
    if (unread.length < bytes) return false;
    messages.push(unread.subarray(0, bytes));
    unread = unread.subarray(bytes);
    chunkBytes = null;
    react("BDAT");
    return true;
  };
  const readCommand = (): boolean => {
    const line = take("\r\n")?.toString();
    if (line === undefined) return false;
    commands.push(line);
    const [verb, bytes] = line.split(" ");
    if (verb === "BDAT" && script.knowsChunks) {
      chunkBytes = Number(bytes);
      return true;
    }
    const reply = react((verb === "BDAT" ? "" : verb) as Moment);
    isInMessage = verb === "DATA" && reply.startsWith("354");
    if (verb === "QUIT") socket.end();
    return true;
  };
  const readOne = (): boolean => {
    if (chunkBytes !== null) return readChunk(chunkBytes);
    return isInMessage ? readMessage() : readCommand();
  };
  /** Whether the message goes on after this chunk: the first bytes of one are always looked at as a whole. */
  const goesOn = (chunk: Buffer): boolean => {
    const before = (rest.at(-1) ?? unread).subarray(-messageEnd.length);
    return isInMessage && before.length === messageEnd.length && !Buffer.concat([before, chunk]).includes(messageEnd);
  };
  socket.on("data", (chunk) => {
    heard.reads += 1;
    const isLonger = goesOn(chunk);
    rest.push(chunk);
    if (!isLonger) {
      unread = Buffer.concat([unread, ...rest]);
      rest = [];
    }
    if (isInMessage) react("body");
    while (!isLonger && !socket.destroyed && readOne());
  });
  react("greeting");
}
