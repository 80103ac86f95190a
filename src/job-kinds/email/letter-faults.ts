import type { JobContent } from "../../content/content-store.ts";
import { addressOf } from "../../domain/recipients/address.ts";
import { type Fault, faultAt } from "../../schemas/fault.ts";
import type { RequestedRecipient } from "../../schemas/job-request.ts";
import { checkLetters, type LetterFault } from "./templates/check-letters.ts";
import type { PartName } from "./templates/letters.ts";

type MailRequest = {
  readonly html?: string;
  readonly text?: string;
  readonly recipients?: readonly RequestedRecipient[];
};

/** The faults that rendering finds in the templates of a mailing, as faults of the request that they came from. */
export async function letterFaults(content: JobContent, request: MailRequest): Promise<readonly Fault[]> {
  return (await checkLetters(content)).map((fault) => toFault(fault, content, request));
}

function toFault({ recipient, fault }: LetterFault, { recipients }: JobContent, request: MailRequest): Fault {
  const { place } = fault.fault;
  const field = fieldOf(fault.part, request);
  const where = place === null ? "" : ` at line ${place.line}, column ${place.column}`;
  if (recipient === null) return faultAt(`/${field}`, `cannot be read as a template${where}: ${fault.message}`);
  const index = indexInRequest(request, recipients[recipient]?.email ?? "");
  return faultAt(`/recipients/${index}`, `cannot fill in ${field}${where}: ${fault.message}`);
}

/** The field of the request that a part came from. */
function fieldOf(part: PartName, { html, text }: MailRequest): "subject" | "body" | "html" | "text" {
  switch (part) {
    case "subject":
      return "subject";
    case "html":
      return html === undefined ? "body" : "html";
    case "text":
      return text === undefined ? "body" : "text";
  }
}

/** The first spelling of an address stands, with its variables. */
const indexInRequest = ({ recipients = [] }: MailRequest, email: string): number =>
  recipients.findIndex(
    (recipient) => (typeof recipient === "string" ? addressOf(recipient) : recipient["email"]) === email,
  );
