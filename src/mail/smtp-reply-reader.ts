/** A reply of the mail server (RFC 5321 4.2). */
export type Reply = {
  readonly code: number;
  /** Its lines, codes included, with a line feed between them. */
  readonly text: string;
};

export type ReplyReader = {
  /** Passes on each reply as soon as it is whole. False if the server does not speak SMTP. */
  readonly read: (bytes: Buffer) => boolean;
  /** Whether the server has begun a reply and not ended it. */
  readonly isInReply: () => boolean;
};

/** RFC 5321 4.5.3.1.5 allows 512 bytes; more than that has been seen. A reply has at most 64 kB in all. */
const longestLine = 2048;
const mostLines = 32;

/** A code of RFC 5321 4.2.1. A line may consist of it alone. */
const replyLine = /^[2-5]\d\d(?:[ -]|$)/;

export function createReplyReader(onReply: (reply: Reply) => void): ReplyReader {
  /** What has arrived of a line, with one character for each byte. */
  let unread = "";
  let lines: string[] = [];

  const readLine = (line: string): boolean => {
    // Some servers send an empty line behind a reply.
    if (line === "" && lines.length === 0) return true;
    const isAlike = lines[0] === undefined || lines[0].startsWith(line.slice(0, 3));
    if (!replyLine.test(line) || !isAlike || line.length > longestLine || lines.length === mostLines) return false;
    lines.push(line);
    if (line[3] === "-") return true;
    const reply = { code: Number(line.slice(0, 3)), text: toText(lines.join("\n")) };
    lines = [];
    onReply(reply);
    return true;
  };

  return {
    read: (bytes) => {
      unread += bytes.toString("latin1");
      let start = 0;
      for (let end = unread.indexOf("\n"); end >= 0; end = unread.indexOf("\n", start)) {
        const line = unread.slice(start, unread[end - 1] === "\r" ? end - 1 : end);
        start = end + 1;
        if (!readLine(line)) return false;
      }
      unread = unread.slice(start);
      return unread.length <= longestLine;
    },
    isInReply: () => unread !== "" || lines.length > 0,
  };
}

/** As UTF-8 if that is what it is: RFC 5321 names no character set. */
function toText(bytes: string): string {
  if (!/[\x80-\xff]/.test(bytes)) return bytes;
  const text = Buffer.from(bytes, "latin1").toString();
  return text.includes("\ufffd") ? bytes : text;
}
