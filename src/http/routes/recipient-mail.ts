import type { JobContent } from "../../content/content-store.ts";
import { decodeContent } from "../../content/encode-content.ts";
import { loadAttachments } from "../../content/load-attachments.ts";
import { addressOf } from "../../domain/recipients/address.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { composeLetter } from "../../mail/compose-letter.ts";
import { messageIdOf } from "../../mail/mailer.ts";
import { unsubscribeUrl } from "../../suppressions/unsubscribe-links.ts";
import { PartFault, readLetters } from "../../templates/letters.ts";
import { type Answer, jobNotFound, refuse } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "log" | "contentStore" | "mail" | "now">;

const mailType = "message/rfc822";

/**
 * GET /jobs/:jobId/recipients/:recipient/mail: the mail to one recipient, made again from what is stored, to look at.
 * It is not signed, and its link to unsubscribe unsubscribes nobody: whoever looks at it is not its recipient.
 */
export const recipientMailRoute = (dependencies: Dependencies) =>
  route({
    method: "GET",
    path: "/jobs/:jobId/recipients/:recipient/mail",
    describes: {
      operation: "readRecipientMail",
      summary: "The mail to one recipient, made again from what is stored; it is dated now, and not signed.",
      answers: { 200: { is: "The mail." } },
      needs: ["log"],
      problems: ["job-not-found", "mail-not-found"],
    },
    offers: [mailType],
    handle: async ({ context, part }) => {
      const { log, contentStore } = dependencies;
      const job = toJobRef(context, part("jobId"));
      if (job === null || (await log.lastDecision(job)) === 0) return jobNotFound();
      const stored = await contentStore.get(job);
      if (stored === null) return mailNotFound("What this job sent has been erased.");
      const index = part("recipient");
      // Past nine digits there is no recipient, and a number would not hold them all.
      const recipient = /^\d{1,9}$/.test(index) ? Number(index) : -1;
      return await mailTo(dependencies, job, decodeContent(stored), recipient);
    },
  });

async function mailTo(
  { contentStore, mail: { mailFrom, publicUrl }, now }: Omit<Dependencies, "log">,
  job: JobRef,
  content: JobContent,
  recipient: number,
): Promise<Answer> {
  if (content.subject === null) return mailNotFound("This job sends no mail.");
  const one = content.recipients[recipient];
  if (one === undefined) return mailNotFound(`The job has recipients 0 to ${content.recipients.length - 1}.`);
  if (one === null) return mailNotFound("This recipient has been erased.");
  const attachments = await loadAttachments(contentStore, job, content.attachments);
  if (attachments === null) return mailNotFound("An attachment of this mail is not there any more.");
  try {
    const link = content.unsubscribe ? unsubscribeUrl(publicUrl ?? "https://example.invalid", "example") : null;
    const { letter, personalFor } = readLetters(content, mailFrom, attachments);
    const personal = personalFor(one, link);
    const messageId = messageIdOf(job.tenant, job.jobId, recipient, addressOf(letter.from));
    const { messageOf } = await composeLetter(letter, null);
    const mail = { letter, to: one.email, messageId, personal, unsubscribeUrl: link };
    const body = Buffer.concat(await messageOf(mail, new Date(now())));
    return { status: 200, type: mailType, headers: { "Cache-Control": "no-store" }, body };
  } catch (failure) {
    if (failure instanceof PartFault) return mailNotFound(`Its ${failure.part} cannot be filled in: no mail was made.`);
    throw failure;
  }
}

const mailNotFound = (detail: string): Answer => refuse("mail-not-found", detail);
