import { setTimeout as pause } from "node:timers/promises";
import { demoDomains, goneLocalPart } from "../standalone/demo-answers.ts";
import { createMailing, startMailing } from "./client/send-mailing.ts";
import { createService, type Json, type Service, type ServiceAddress } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { mailings } from "./job-lines.ts";

const names = ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Grace", "Heidi", "Ivan", "Judy", "Mallory", "Olivia"];

/** The keys are constant, so that a service which is started with --demo again does not send the mailings again. */
const greeting = {
  key: "waybill-demo",
  job: {
    name: "Demo",
    subject: "Hello {{ name }}",
    body: "<h1>Hello {{ name }}</h1><p>This mail went nowhere: the mailbox of this machine has caught it.</p>",
    recipients: names.map((name) => ({ email: `${name.toLowerCase()}@example.com`, variables: { name } })),
  },
};

const news = {
  key: "waybill-demo-news",
  letter: {
    name: "Demo: a longer mailing",
    subject: "News for {{ name }}",
    body: "<h1>News</h1><p>Dear {{ name }}, some addresses of this mailing do not exist, and one domain asks for patience.</p>",
    // An hour: it goes in three parts, a minute apart, so that there is something to watch.
    rate: 4400,
  },
};

const toAnOldList = {
  key: "waybill-demo-old-list",
  job: {
    name: "Demo: a dead letter",
    subject: "To an old list",
    body: "<p>The server of this domain takes no mail any more.</p>",
    recipients: ["ann", "ben", "cem"].map((name) => `${name}@${demoDomains.gone}`),
  },
};

const afterMs = { news: 3000, toAnOldList: 45_000 } as const;
const recipientsOfNews = 220;

/** Every 25th address does not exist, and every 15th is at the domain that asks for patience. */
function emailOf(index: number): string {
  const name = names[index % names.length]?.toLowerCase() ?? "";
  if (index % 25 === 24) return `${goneLocalPart}-${index}@example.com`;
  return `${name}-${index}@${index % 15 === 7 ? demoDomains.patient : "example.com"}`;
}

async function* newsRecipients(): AsyncGenerator<Uint8Array> {
  const lines = Array.from({ length: recipientsOfNews }, (_, index) =>
    JSON.stringify({ email: emailOf(index), variables: { name: names[index % names.length] } }),
  );
  yield Buffer.from(`${lines.join("\n")}\n`);
}

/**
 * Sends three mailings to invented people: one at once, one that takes two minutes and meets refusals and a domain that
 * asks for patience, and one that fails as a whole. A service that needs a key which is not given gets no demo: it is in use.
 */
export async function demonstrate(
  { tell, interrupted }: Pick<CommandContext, "tell" | "interrupted">,
  address: ServiceAddress,
): Promise<void> {
  const { url } = address;
  const service = createService(address, interrupted);
  try {
    const job = await createJob(service, greeting);
    tell(`\nA demo mailing is on its way: ${url}/#/jobs/${job}`);
    await pause(afterMs.news, undefined, { signal: interrupted });
    const mailing = await startNews(service);
    tell(`A second one takes two minutes, with refusals and a slow domain: ${url}/#/mailings/${mailing}`);
    await pause(afterMs.toAnOldList, undefined, { signal: interrupted });
    await createJob(service, toAnOldList);
    tell(`A third one fails, and becomes a dead letter: ${url}/#/dead-letters`);
  } catch (failure) {
    if (!interrupted.aborted) tell(`The demo has ended: ${failure instanceof Error ? failure.message : failure}`);
  }
}

/** A service that has just started on a slow machine may not answer in time; all requests are safe to repeat. */
const quietly = (): void => {};

async function createJob(
  service: Service,
  { key, job }: { readonly key: string; readonly job: Json },
): Promise<string> {
  const asked = { method: "POST", body: job, headers: { "Idempotency-Key": key } } as const;
  return (await service.askPatiently("/api/jobs", asked, quietly)).body.jobId;
}

async function startNews(service: Service): Promise<string> {
  const { id, isRepeat, sequence } = await createMailing(service, news.key, news.letter, quietly);
  const path = mailings.pathOf(id);
  // The first start may have ended between any two steps: a draft is gone on with.
  if (isRepeat && (await service.askPatiently(path, { method: "GET" }, quietly)).body["status"] !== "draft") return id;
  const upload = { type: "application/x-ndjson", open: newsRecipients };
  await service.askPatiently(`${path}/recipients`, { method: "PUT", upload }, quietly);
  await startMailing(service, path, { scheduledAt: null, sequence }, quietly);
  return id;
}
