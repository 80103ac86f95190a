import type { CreatedAnswer, CreatedMailingAnswer, ImportAnswer } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { upload } from "../api/upload.ts";
import { inChunks, type Recipient } from "../reading/recipients.ts";
import { type Draft, toRequest } from "./compose-request.ts";

/** The most recipients of one job. */
const recipientsPerJob = 1000;

/**
 * One press of the button. Pressed again after a failure, it continues, and creates no job a second time. Pressed while it is
 * under way, as after a visit to another page, it waits for the same end.
 */
export type Sending = { goOn(): Promise<readonly CreatedAnswer[]> };

const newId = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");

export function createSending(draft: Draft, recipients: readonly Recipient[]): Sending {
  const id = newId();
  const chunks = recipients.length === 0 ? [[]] : inChunks(recipients, recipientsPerJob);
  const created: CreatedAnswer[] = [];
  const goOn = async (): Promise<readonly CreatedAnswer[]> => {
    for (let index = created.length; index < chunks.length; index = created.length) {
      const body = toRequest(draft, chunks[index] ?? []);
      const headers = { "Idempotency-Key": `dashboard-${id}-${index}` };
      created.push(await send<CreatedAnswer>("POST", "api/jobs", { body, headers }));
    }
    return created;
  };
  return { goOn: oneRunAtATime(goOn) };
}

/** One run at a time, whose end all callers share. */
function oneRunAtATime<Answer>(run: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<Answer> | null = null;
  return () => {
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  };
}

export type DraftedMailing = { readonly mailingId: string; readonly added: number; readonly faulty: number };

/** The draft of a mailing. Pressed again after a failure, it continues with the same one, as `Sending` does. */
export type Drafting = { goOn(): Promise<DraftedMailing> };

/** The mailing has the letter, and the recipients that were typed; its start takes the time. */
export function createDrafting(draft: Draft, recipients: readonly Recipient[]): Drafting {
  const headers = { "Idempotency-Key": `dashboard-${newId()}` };
  const { recipients: _recipients, scheduledAt: _time, ...body } = toRequest(draft, []);
  const goOn = async (): Promise<DraftedMailing> => {
    const { mailingId } = await send<CreatedMailingAnswer>("POST", "api/mailings", { body, headers });
    if (recipients.length === 0) return { mailingId, added: 0, faulty: 0 };
    const file = new File(
      recipients.map((one) => `${JSON.stringify(one)}\n`),
      "typed.ndjson",
    );
    const path = `api/mailings/${encodeURIComponent(mailingId)}/recipients`;
    const { added, faulty } = await upload<ImportAnswer>(path, file, { type: "application/x-ndjson" });
    return { mailingId, added, faulty };
  };
  return { goOn: oneRunAtATime(goOn) };
}
