import { hash } from "node:crypto";

/**
 * The Message-ID of the mail to one recipient of a job: the same on every attempt, so that whoever receives a second
 * copy after a crash can tell that it is one. `sender` is the address in From; its domain is the right-hand side.
 */
export function messageIdOf(tenant: string, jobId: string, recipient: number, sender: string): string {
  const digest = hash("sha256", `${tenant}|${jobId}|${recipient}`);
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  return `<${digest.slice(0, 32)}@${domain}>`;
}
