import type { Finding } from "../health/finding.ts";
import { createDns } from "../health/sending-domain/dns.ts";
import { examineDomain } from "../health/sending-domain/examine-domain.ts";
import { type Config, mailServerOfWorkers } from "../settings/config.ts";
import { unsubscribePath } from "../suppressions/unsubscribe-links.ts";

/** For one question to a name server, and for the answer of another server. */
const dnsTimeoutMs = 3000;
const timeoutMs = 10_000;

type Settings = Pick<Config, "smtpUrl" | "mailReturnPath" | "dkim" | "publicUrl" | "dnsServers">;

/** Looks at a domain that is to send, by the settings of this process. */
export function senderExaminer({ smtpUrl: mailServer, mailReturnPath, dkim, publicUrl, dnsServers }: Settings) {
  const dns = createDns({ servers: dnsServers, timeoutMs: dnsTimeoutMs });
  const smtpUrl = mailServer === mailServerOfWorkers ? null : mailServer;
  const settings = { smtpUrl, returnPath: mailReturnPath, dkim, publicUrl, unsubscribePath, timeoutMs };
  return (domain: string): Promise<readonly Finding[]> => examineDomain(dns, { domain, ...settings }, new Date());
}
