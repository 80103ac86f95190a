import { createService, type Json } from "../client/service.ts";

/** The same for ever: a service that is started once more with --demo has sent it already. */
const idempotencyKey = "waybill-demo";

const names = ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Grace", "Heidi", "Ivan", "Judy", "Mallory", "Olivia"];

const mailing = {
  name: "Demo",
  subject: "Hello {{ name }}",
  body: "<h1>Hello {{ name }}</h1><p>This mail went nowhere: the mailbox of this machine has caught it.</p>",
  recipients: names.map((name) => ({ email: `${name.toLowerCase()}@example.com`, variables: { name } })),
};

/** Has a service that was just started send a small mailing to invented people; answers the job's id. Throws ServiceRefused. */
export async function sendDemoMailing(url: string, key: string | null, interrupted: AbortSignal): Promise<string> {
  const service = createService({ url, key }, interrupted);
  const headers = { "Idempotency-Key": idempotencyKey };
  const { body }: { body: Json } = await service.ask("/api/jobs", { method: "POST", body: mailing, headers });
  return body.jobId;
}
