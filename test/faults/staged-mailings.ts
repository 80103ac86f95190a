import { randomUUID } from "node:crypto";
import { trustNothing } from "../../src/seals/check.ts";
import { verifyEvidence } from "../../src/seals/verify-evidence.ts";
import { eventually } from "../support/eventually.ts";
import { ask } from "./ask.ts";
import type { RawEvent } from "./log-reader.ts";
import type { Stage } from "./stage.ts";

/** A process that was killed may take a minute to start on a busy machine, and only then can it answer. */
const answeredWithinMs = 120_000;

type Client = Readonly<Record<string, string>>;
type OfMailing = { readonly mailingId: string };

type AnswerOfMailing = { readonly mailingId: string; readonly approval: { readonly digest: string } | null };

/** Asks until there is an answer that is not "later". */
export const insist = async <Answer = AnswerOfMailing>(
  stage: Stage,
  path: string,
  body: object,
  client: Client = stage.headers ?? {},
): Promise<Answer> =>
  await eventually(async () => {
    const asked = await ask("POST", `${stage.apiUrls()[0]}/api${path}`, body, { ...client });
    if (asked.kind === "unanswered" || asked.status === 503) throw new Error(`POST ${path}: ${JSON.stringify(asked)}`);
    if (asked.status >= 300) throw new Error(`POST ${path} was answered ${JSON.stringify(asked)}`);
    return asked.body as Answer;
  }, answeredWithinMs);

/** The whole file again, until it was read to its end. Answers how many lines are faulty. */
export const importAll = (stage: Stage, { mailingId }: OfMailing, lines: readonly string[]): Promise<number> =>
  eventually(async () => {
    const answer = await fetch(`${stage.apiUrls()[0]}/api/mailings/${mailingId}/recipients`, {
      method: "PUT",
      headers: { ...stage.headers, "Content-Type": "application/x-ndjson" },
      body: lines.join("\n"),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`The import was answered ${answer.status}: ${text}`);
    return (JSON.parse(text) as { readonly faulty: number }).faulty;
  }, answeredWithinMs);

const letter = { subject: "Killed", body: "Dear {{ name }}", maxAttempts: 20 };

export const draftMailing = async (stage: Stage, request: object = {}): Promise<string> => {
  const client = { ...stage.headers, "Idempotency-Key": randomUUID() };
  return (await insist(stage, "/mailings", { ...letter, ...request }, client)).mailingId;
};

export const addressesOf = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}@example.com`);

export const eventsOf = (log: readonly RawEvent[], { mailingId }: OfMailing): readonly RawEvent[] =>
  log.filter(({ jobId }) => jobId === mailingId);

export type Part = { readonly jobId: string; readonly recipients: number };

export const partsIn = (events: readonly RawEvent[]): readonly Part[] =>
  events.flatMap(({ type, data }) => (type === "MailingPartsAdded" ? (data["parts"] as readonly Part[]) : []));

export async function faultsOfEvidence(
  { apiUrls, headers = {} }: Stage,
  { mailingId }: OfMailing,
): Promise<readonly string[]> {
  const answer = await fetch(`${apiUrls()[0]}/api/mailings/${mailingId}/evidence`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) return [`the evidence of mailing ${mailingId} was answered ${answer.status}: ${text}`];
  const { checks } = verifyEvidence(Buffer.from(text), trustNothing);
  const failed = checks
    .filter(({ ok }) => !ok)
    .map(({ what, detail }) => `evidence of ${mailingId}: ${what}. ${detail}`);
  return checks.length === 0 ? [`the evidence of mailing ${mailingId} has nothing to check`] : failed;
}
