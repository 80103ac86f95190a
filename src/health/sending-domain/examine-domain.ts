import { isIP } from "node:net";
import type { DkimSettings } from "../../mail/dkim.ts";
import { keysOfSender } from "../../mail/dkim-keys.ts";
import { domainOf } from "../../mail/domain-of.ts";
import { type Finding, fine, serious, warning } from "../finding.ts";
import type { Dns } from "./dns.ts";
import { examineDkim } from "./examine-dkim.ts";
import { examineDmarc } from "./examine-dmarc.ts";
import { examineMx, examinePtr } from "./examine-return-path.ts";
import { examineSpf, type Sender } from "./examine-spf.ts";
import { examineTls } from "./examine-tls.ts";
import { examineUnsubscribe } from "./examine-unsubscribe.ts";
import { isPublicAddress } from "./public-address.ts";

export type Sending = {
  /** The domain of the From address. */
  readonly domain: string;
  /** Null where Waybill has a mailbox of its own, and in a process without SMTP_URL. */
  readonly smtpUrl: string | null;
  readonly returnPath: string | null;
  readonly dkim: DkimSettings | null;
  readonly publicUrl: string | null;
  /** Below the public URL. */
  readonly unsubscribePath: string;
  readonly timeoutMs: number;
};

/** Whether what receivers ask of a sender is there. Asks DNS, the mail server and the public URL; sends no mail. */
export async function examineDomain(dns: Dns, sending: Sending, now: Date): Promise<readonly Finding[]> {
  const { smtpUrl, returnPath, dkim, publicUrl, unsubscribePath, timeoutMs } = sending;
  const domain = domainOf(sending.domain);
  const returnPathDomain = returnPath === null ? domain : domainOf(returnPath);
  const signing = dkim === null ? [] : (keysOfSender(dkim, `@${domain}`)?.(now) ?? []);
  const later = (dkim?.keys ?? []).filter(
    (key) => key.from !== null && key.from > now && isAtOrAbove(key.domain, domain),
  );
  const sender = await toSender(dns, smtpUrl);
  const findings = await Promise.all([
    examineSpf(dns, returnPathDomain, sender),
    examineDkim(dns, domain, [...signing, ...later], now),
    examineDmarc(dns, { domain, returnPathDomain, signingDomains: signing.map((key) => key.domain) }),
    examineMx(dns, returnPathDomain, returnPath !== null),
    examinePtr(dns, sender),
    smtpUrl === null ? [unknownTls(domain)] : examineTls(smtpUrl, timeoutMs),
    examineUnsubscribe(publicUrl, unsubscribePath, timeoutMs),
  ]);
  const all = findings.flat();
  return [...all, summaryFor(all)];
}

const isAtOrAbove = (domain: string, sender: string): boolean => sender === domain || sender.endsWith(`.${domain}`);

const unknownTls = (domain: string): Finding =>
  warning(
    "tls",
    "Not known: SMTP_URL is not set in this process",
    `Look with the settings of a worker: waybill doctor --domain ${domain}`,
  );

/** The addresses of a relay need not be those from which it sends; the findings say so. */
async function toSender(dns: Dns, smtpUrl: string | null): Promise<Sender> {
  if (smtpUrl === null) return { host: "the host", addresses: [] };
  const host = new URL(smtpUrl).hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return { host, addresses: [host].filter(isPublicAddress) };
  const answer = host === "localhost" ? null : await dns.addresses(host);
  return { host, addresses: answer?.kind === "found" ? answer.values.filter(isPublicAddress) : [] };
}

/**
 * Gmail, Yahoo and Microsoft ask the same of who sends them 5,000 mails a day: SPF, DKIM and an aligned DMARC record, names for
 * the addresses, TLS, one-click unsubscribing, and few complaints.
 */
function summaryFor(findings: readonly Finding[]): Finding {
  const asked = "What Gmail, Yahoo and Microsoft ask of bulk senders (5,000 mails a day)";
  const partsAt = (level: Finding["level"]) => [
    ...new Set(findings.filter((finding) => finding.level === level).map(({ part }) => part)),
  ];
  const [missing, open] = [partsAt("serious"), partsAt("warning")];
  if (missing.length > 0)
    return serious("bulk", `${asked} is not met: ${missing.join(", ")}`, "Do what stands beside them above.");
  if (open.length > 0)
    return warning(
      "bulk",
      `${asked} is met only in part, or not known: ${open.join(", ")}`,
      "Look at the warnings above.",
    );
  return fine("bulk", `${asked} is met. Keep complaints below 0.3 % (Gmail's Postmaster Tools count them)`);
}
