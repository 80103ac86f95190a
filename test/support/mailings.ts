import { handleMailingCommand } from "../../src/commands/handle-command.ts";
import { readMailing } from "../../src/commands/read-version.ts";
import type { ContentStore } from "../../src/content/content-store.ts";
import type { MailingCommand } from "../../src/domain/mailing/commands.ts";
import type { ExistingMailing } from "../../src/domain/mailing/state.ts";
import type { Cause, EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { draftJob } from "../../src/intake/draft-job.ts";
import { createMailing, toMailingDraft } from "../../src/mailings/create-mailing.ts";
import type { ImportCounts } from "../../src/mailings/gather-parts.ts";
import { createImporter } from "../../src/mailings/import-recipients.ts";
import type { MailingRequest } from "../../src/mailings/mailing-request.ts";
import { now } from "./examples.ts";
import { newJob } from "./happen.ts";

export const cause: Cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };

export type Stored = { readonly log: EventLog; readonly contentStore: ContentStore };

const request = { type: "email.send", subject: "Hello", body: "Dear all", name: "Autumn" } as MailingRequest;

/** The draft of a mailing without recipients. */
export async function draftMailing(
  { log, contentStore }: Stored,
  tenant = "default",
  asked: Partial<MailingRequest> = {},
): Promise<JobRef> {
  const whole = { ...request, ...asked } as MailingRequest;
  const draft = { job: newJob(tenant), isRepeatable: false, body: whole, request: whole, maxAttempts: 4, at: now };
  const creation = await createMailing(log, contentStore, toMailingDraft(draftJob(draft), whole), cause, now);
  if (creation.outcome === "rejected") throw new Error(`The draft was refused: ${creation.rejection.code}`);
  return creation.mailing;
}

export const importerOf = ({ log, contentStore }: Stored, patienceMs?: number) =>
  createImporter({ log, contentStore, room: { isLeftForJobs: async () => true }, now: () => now }, patienceMs);

/** NDJSON with an address in each line. */
export const fileOf = (addresses: Iterable<string>) => ({
  type: "application/x-ndjson" as const,
  chunks: (async function* () {
    for (const address of addresses) yield Buffer.from(`${JSON.stringify(address)}\n`);
  })(),
});

export const people = (count: number, first = 0): readonly string[] =>
  Array.from({ length: count }, (_, index) => `person${first + index}@example.com`);

export async function importInto(stored: Stored, mailing: JobRef, addresses: Iterable<string>): Promise<ImportCounts> {
  const outcome = await importerOf(stored).import(mailing, fileOf(addresses), cause);
  if (outcome.outcome !== "imported") throw new Error(`The import ended otherwise: ${JSON.stringify(outcome)}`);
  return outcome.counts;
}

export async function decide({ log }: Stored, mailing: JobRef, command: MailingCommand): Promise<void> {
  const outcome = await handleMailingCommand(log, mailing, command, cause);
  if (outcome.outcome === "rejected") throw new Error(`${command.type} was refused: ${outcome.rejection.code}`);
}

export async function stateOf({ log }: Stored, mailing: JobRef): Promise<ExistingMailing> {
  const { state } = await readMailing(log, mailing);
  if (state.status === "absent") throw new Error("There is no such mailing.");
  return state;
}
