const address = /[^\s<>()[\]"',;:@]+@[^\s<>()[\]"',;:@]+/g;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * An answer of a mail server as it may be kept for ever: without any address, and without what else of the mail it may
 * quote. Servers name the mailbox alone, too ("ada: user unknown"), so the local part goes wherever it is a word.
 */
export function maskReply(reply: string, mail: { readonly to: string; readonly subject: string }): string {
  const localPart = mail.to.slice(0, mail.to.lastIndexOf("@"));
  const secrets = [mail.to, mail.subject, localPart].filter((secret) => secret.length > 1).map(escaped);
  const quoted = new RegExp(`(?<![\\p{L}\\p{N}])(?:${secrets.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return reply.replace(quoted, "***").replace(address, "***");
}
