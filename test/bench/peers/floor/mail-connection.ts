import { once } from "node:events";
import { connect } from "node:net";

/** One connection to a mail server that is kept, with one mail at a time; answers the last reply. */
export type MailConnection = { send(from: string, to: string, letter: string): Promise<string> };

/**
 * Two writes a mail, as RFC 2920 allows: MAIL, RCPT and DATA, then the letter. Every reply must be the one that is
 * expected, as a sink takes everything; the letter must have no line that begins with a dot.
 */
export async function openMailConnection(port: number): Promise<MailConnection> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
  await once(socket, "connect");
  let received = "";
  let look = (): void => {};
  socket.on("data", (text: string) => {
    received += text;
    look();
  });
  /** The last of so many lines that end a reply. */
  const replies = (count: number): Promise<string> =>
    new Promise((resolve, reject) => {
      look = () => {
        const lines = received.split("\r\n").slice(0, -1);
        const ends = lines.filter((line) => line[3] !== "-");
        const refused = ends.find((line) => line.startsWith("4") || line.startsWith("5"));
        if (refused !== undefined) reject(new Error(`The sink said ${refused}`));
        if (ends.length < count) return;
        received = "";
        resolve(ends.at(-1) ?? "");
      };
      look();
    });
  await replies(1);
  socket.write("EHLO localhost\r\n");
  await replies(1);
  return {
    send: async (from, to, letter) => {
      socket.write(`MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`);
      await replies(3);
      socket.write(`${letter}\r\n.\r\n`);
      return await replies(1);
    },
  };
}
