const address = /[^\s<>()[\]"',;:@]+@[^\s<>()[\]"',;:@]+/g;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The same for texts that differ only in case. Via lower case, because some letters have two lower-case forms and one upper-case form. */
const folded = (text: string): string => text.toLowerCase().toUpperCase();

/** A reply has some hundred; what a broken server says beyond that is of no use, and must not fill the log. */
const mostCharacters = 2000;

/**
 * A reply of a mail server in the form in which it may be stored for ever: not too long, without any address, and without
 * quotes from the mail. Some servers name only the mailbox ("ada: user unknown"), so the local part is masked wherever it is a word.
 */
export function maskReply(reply: string, mail: { readonly to: string; readonly subject: string }): string {
  const localPart = mail.to.slice(0, mail.to.lastIndexOf("@"));
  const inReply = folded(reply);
  // Few replies quote anything, and compiling the pattern costs more than sending the mail.
  const secrets = [mail.to, mail.subject, localPart].filter(
    (secret) => secret.length > 1 && inReply.includes(folded(secret)),
  );
  return clipped(withoutAddresses(secrets.length === 0 ? reply : withoutWords(reply, secrets)));
}

const clipped = (reply: string): string =>
  reply.length <= mostCharacters ? reply : `${reply.slice(0, mostCharacters)} …`;

function withoutWords(reply: string, secrets: readonly string[]): string {
  const quoted = new RegExp(`(?<![\\p{L}\\p{N}])(?:${secrets.map(escaped).join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return reply.replace(quoted, "***");
}

const withoutAddresses = (reply: string): string => (reply.includes("@") ? reply.replace(address, "***") : reply);
