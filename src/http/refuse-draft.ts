import { maxAttachmentBytes } from "../schemas/attachment.ts";
import type { Fault } from "../schemas/fault.ts";
import { faultAt } from "../schemas/faults-of.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import { checkLetters, type LetterFault } from "../templates/check-letters.ts";
import type { PartName } from "../templates/letters.ts";
import type { Answer } from "./answer.ts";
import { bytesOfAll } from "./attachments-of-request.ts";
import type { JobDraft } from "./draft-job.ts";
import { refuse, refuseFaults } from "./problem.ts";

/** What is found wrong with a mailing only when it is put together: how large it is, and what its templates make. */
export async function refuseDraft(draft: JobDraft, request: JobRequest, maxBytes: number): Promise<Answer | null> {
  const { content, attachments, mailing } = draft;
  if (content.length > maxBytes) {
    return refuse("content-too-large", `The content takes ${content.length} bytes; expected at most ${maxBytes}.`);
  }
  const attached = bytesOfAll(attachments);
  if (attached > maxAttachmentBytes) {
    const size = `The attachments take ${attached} bytes together; expected at most ${maxAttachmentBytes}.`;
    return refuse("content-too-large", size);
  }
  const faults = await checkLetters(mailing);
  return faults.length === 0 ? null : refuseFaults(faults.map((fault) => toFault(fault, draft, request)));
}

function toFault({ recipient, fault }: LetterFault, { mailing }: JobDraft, request: JobRequest): Fault {
  const { place } = fault.fault;
  const field = fieldOf(fault.part, request);
  const where = place === null ? "" : ` at line ${place.line}, column ${place.column}`;
  if (recipient === null) return faultAt(`/${field}`, `cannot be read as a template${where}: ${fault.message}`);
  const index = indexInRequest(request, mailing.recipients[recipient]?.email ?? "");
  return faultAt(`/recipients/${index}`, `cannot fill in ${field}${where}: ${fault.message}`);
}

/** The field of the request from which a part came. */
function fieldOf(part: PartName, { html, text }: JobRequest): keyof JobRequest {
  switch (part) {
    case "subject":
      return "subject";
    case "html":
      return html === undefined ? "body" : "html";
    case "text":
      return text === undefined ? "body" : "text";
  }
}

/** The first spelling of an address stands, and so do its variables. */
const indexInRequest = ({ recipients }: JobRequest, email: string): number =>
  recipients.findIndex((recipient) => (typeof recipient === "string" ? recipient : recipient.email) === email);
