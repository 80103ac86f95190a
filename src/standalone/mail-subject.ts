/** The subject of a mail as people read it (RFC 2047 decoded); empty if the mail has none. */
export function subjectOf(raw: Buffer): string {
  const end = raw.indexOf("\r\n\r\n");
  // Headers may be UTF-8 (RFC 6532); a subject that is folded over several lines is one line (RFC 5322, 2.2.3).
  const header = raw.toString("utf8", 0, end === -1 ? raw.length : end);
  const field = /(?:^|\r\n)subject:[ \t]*((?:[^\r\n]|\r\n[ \t])*)/i.exec(header)?.[1] ?? "";
  return decodeWords(field.replace(/\r\n(?=[ \t])/g, "")).trim();
}

type Word = { readonly charset: string; readonly bytes: Buffer };

/**
 * The space between adjacent encoded words does not belong to the text, and some senders, against the rules, split one
 * character between two of them. So the bytes are joined before they are decoded.
 */
function decodeWords(text: string): string {
  return text.replace(/=\?[^?\s]+\?[bq]\?[^?\s]*\?=(?:\s+=\?[^?\s]+\?[bq]\?[^?\s]*\?=)*/gi, (run) => {
    const words = run.split(/\s+/).map(toWord);
    const joined: Word[] = [];
    for (const word of words) {
      const last = joined.at(-1);
      if (last?.charset === word.charset)
        joined.splice(-1, 1, { ...word, bytes: Buffer.concat([last.bytes, word.bytes]) });
      else joined.push(word);
    }
    return joined.map(decode).join("");
  });
}

function toWord(encoded: string): Word {
  const [, charset = "utf-8", encoding = "b", text = ""] = encoded.slice(0, -2).split("?");
  const bytes = encoding.toLowerCase() === "b" ? Buffer.from(text, "base64") : fromQuoted(text);
  // A language may follow the charset: RFC 2231, 5.
  return { charset: charset.replace(/\*.*$/, "").toLowerCase(), bytes };
}

const fromQuoted = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll("_", " ")
      .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );

function decode({ charset, bytes }: Word): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // The charset is unknown.
    return bytes.toString("latin1");
  }
}
