import { decodeContent } from "../../content/encode-content.ts";
import { findKind } from "../../job-kinds/all-job-kinds.ts";
import { type Answer, jobNotFound, refuse } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "log" | "contentStore" | "mail" | "now">;

/** GET /jobs/:jobId/recipients/:recipient/mail: the mail to one recipient, rendered again by the job's kind, for display. */
export const recipientMailRoute = (dependencies: Dependencies) =>
  route({
    method: "GET",
    path: "/jobs/:jobId/recipients/:recipient/mail",
    describes: {
      operation: "readRecipientMail",
      summary:
        "The mail to one recipient, rendered again from the stored content; its date is now, and it is not signed.",
      answers: { 200: { is: "The mail." } },
      needs: ["log"],
      problems: ["job-not-found", "mail-not-found"],
    },
    offers: ["message/rfc822"],
    handle: async ({ context, part }) => {
      const { log, contentStore, mail, now } = dependencies;
      const job = toJobRef(context, part("jobId"));
      const [first] = job === null ? [] : await log.readDecisions(job);
      if (job === null || first === undefined) return jobNotFound();
      const stored = await contentStore.get(job);
      if (stored === null) return mailNotFound("The content of this job has been erased.");
      const messageTo = first.event.type === "JobCreated" ? findKind(first.event.data.type)?.messageTo : undefined;
      if (messageTo === undefined) return mailNotFound("This job sends no mail.");
      const content = decodeContent(stored);
      // No recipient index has more than nine digits, and a longer one may not fit into a number.
      const index = /^\d{1,9}$/.test(part("recipient")) ? Number(part("recipient")) : -1;
      const recipient = content.recipients[index];
      if (recipient === undefined) return mailNotFound(`The job has recipients 0 to ${content.recipients.length - 1}.`);
      if (recipient === null) return mailNotFound("This recipient has been erased.");
      const message = await messageTo({ job, content, index, recipient }, { contentStore, mail }, now());
      if (typeof message === "string") return mailNotFound(message);
      const { mediaType: type, bytes: body } = message;
      return { status: 200, type, headers: { "Cache-Control": "no-store" }, body };
    },
  });

const mailNotFound = (detail: string): Answer => refuse("mail-not-found", detail);
