import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { answerOrders } from "../answer-orders.ts";

/**
 * The first order makes it listen; each later one asks how many mails it has taken so far. Recipients in a domain that begins
 * with `refuses` are asked for patience.
 */
export type SinkOrder = { readonly msPerMail: number; readonly refuses?: string | null };
export type SinkState = { readonly port: number; readonly mails: number };

const goodbye = "221 2.0.0 Bye\r\n";
const answers: Readonly<Record<string, string>> = {
  EHLO: "250-sink\r\n250-PIPELINING\r\n250-CHUNKING\r\n250 8BITMIME\r\n",
  HELO: "250 sink\r\n",
  MAIL: "250 2.1.0 Ok\r\n",
  RCPT: "250 2.1.5 Ok\r\n",
  DATA: "354 End with <CR><LF>.<CR><LF>\r\n",
  RSET: "250 2.0.0 Ok\r\n",
  NOOP: "250 2.0.0 Ok\r\n",
  QUIT: goodbye,
};

const patience = "450 4.7.0 Too many mails, come back later\r\n";
const nobody = "554 5.5.1 No valid recipients\r\n";

let mails = 0;
let refused: string | null = null;

/** Takes every mail and throws it away, with as little work as the protocol allows, pipelined and in chunks as Postfix does. */
function serve(socket: Socket, msPerMail: number): void {
  let pending = "";
  let isData = false;
  /** What is still to come of a chunk. */
  let chunkLeft = 0;
  let said = "";
  let isRefused = false;
  const answerTo = (verb: string, line: string): string => {
    if (verb === "RCPT") isRefused = refused !== null && line.includes(`@${refused}`);
    if (isRefused && verb === "RCPT") return patience;
    if (isRefused && verb === "DATA") return nobody;
    return answers[verb] ?? "502 5.5.1 Not here\r\n";
  };
  const take = (): void => {
    mails += 1;
    const answer = "250 2.0.0 Ok\r\n";
    if (msPerMail > 0) setTimeout(() => socket.write(answer), msPerMail);
    else said += answer;
  };
  /** Whether there was something whole to read. */
  const readOne = (): boolean => {
    if (chunkLeft > 0) {
      const arrived = Math.min(chunkLeft, pending.length);
      chunkLeft -= arrived;
      pending = pending.slice(arrived);
      if (chunkLeft > 0) return false;
      if (isRefused) said += nobody;
      else take();
      return true;
    }
    const mark = isData ? "\r\n.\r\n" : "\r\n";
    const end = pending.indexOf(mark);
    if (end < 0) {
      // The mark of the end may lie across two packets.
      if (isData) pending = pending.slice(-4);
      return false;
    }
    const verb = isData ? "" : pending.slice(0, 4).toUpperCase();
    const line = isData ? "" : pending.slice(0, end);
    pending = pending.slice(end + mark.length);
    if (isData) take();
    else if (verb === "BDAT") chunkLeft = Number(line.split(" ")[1]);
    else said += answerTo(verb, line);
    isData = verb === "DATA" && !isRefused;
    // A message without any line ends with its first one.
    if (isData) pending = `\r\n${pending}`;
    return true;
  };
  socket.setNoDelay(true);
  socket.setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.on("data", (text: string) => {
    pending += text;
    while (readOne());
    if (said.endsWith(goodbye)) socket.end(said);
    else if (said !== "") socket.write(said);
    said = "";
  });
  socket.write("220 sink ESMTP\r\n");
}

let port: number | null = null;

async function listen(msPerMail: number): Promise<number> {
  const server = createServer((socket) => serve(socket, msPerMail)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

answerOrders<SinkOrder, SinkState>(async ({ msPerMail, refuses = null }) => {
  refused = refuses;
  port ??= await listen(msPerMail);
  return { port, mails };
});
