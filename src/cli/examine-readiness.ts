import type { Finding } from "../health/finding.ts";
import { senderExaminer } from "../roles/sender-examiner.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";

const domainName = /^(?!-)[^\s@:/]{1,253}\.[^\s@:/]{2,63}$/;

/** `doctor --domain`. */
export function examineReadiness(context: CommandContext, domain: string): Promise<readonly Finding[]> {
  if (!domainName.test(domain)) {
    throw new WrongUsage(`--domain is ${JSON.stringify(domain)}; expected the domain of a sender: example.org`);
  }
  return senderExaminer(context.readConfig())(domain);
}
