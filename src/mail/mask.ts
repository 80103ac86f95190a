const address = /[^\s<>()[\]"',;:@]+@[^\s<>()[\]"',;:@]+/g;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Alike for texts that differ in case alone. Via lower case, because some letters have two that are one in upper case. */
const folded = (text: string): string => text.toLowerCase().toUpperCase();

/**
 * An answer of a mail server as it may be kept for ever: without any address, and without what else of the mail it may
 * quote. Servers name the mailbox alone, too ("ada: user unknown"), so the local part goes wherever it is a word.
 */
export function maskReply(reply: string, mail: { readonly to: string; readonly subject: string }): string {
  const localPart = mail.to.slice(0, mail.to.lastIndexOf("@"));
  const inReply = folded(reply);
  // Few replies quote anything, and to compile the pattern costs more than to send the mail.
  const secrets = [mail.to, mail.subject, localPart].filter(
    (secret) => secret.length > 1 && inReply.includes(folded(secret)),
  );
  return withoutAddresses(secrets.length === 0 ? reply : withoutWords(reply, secrets));
}

function withoutWords(reply: string, secrets: readonly string[]): string {
  const quoted = new RegExp(`(?<![\\p{L}\\p{N}])(?:${secrets.map(escaped).join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return reply.replace(quoted, "***");
}

const withoutAddresses = (reply: string): string => (reply.includes("@") ? reply.replace(address, "***") : reply);
