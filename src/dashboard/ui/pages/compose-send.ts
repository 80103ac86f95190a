import type { CreatedAnswer } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { inChunks, type Recipient } from "../reading/recipients.ts";
import { type Draft, toRequest } from "./compose-request.ts";

/** The most recipients of one job. */
const recipientsPerJob = 1000;

/** One press of the button. Pressed again after a failure, it continues, and creates no job a second time. */
export type Sending = { goOn(): Promise<readonly CreatedAnswer[]> };

export function createSending(draft: Draft, recipients: readonly Recipient[]): Sending {
  const id = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const chunks = recipients.length === 0 ? [[]] : inChunks(recipients, recipientsPerJob);
  const created: CreatedAnswer[] = [];
  return {
    goOn: async () => {
      for (let index = created.length; index < chunks.length; index = created.length) {
        const body = toRequest(draft, chunks[index] ?? []);
        const headers = { "Idempotency-Key": `dashboard-${id}-${index}` };
        created.push(await send<CreatedAnswer>("POST", "api/jobs", { body, headers }));
      }
      return created;
    },
  };
}
