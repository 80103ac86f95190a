import { normalisedAddress } from "../../domain/recipients/address.ts";
import { failed, faultsIn, passed } from "../../schemas/fault.ts";
import { jobKind } from "../job-kind.ts";
import { letterFaults } from "./letter-faults.ts";
import {
  attachmentsOf,
  checkHeaders,
  checkRoute,
  checkSender,
  checkUnsubscribe,
  faultsOfWords,
  mailFields,
  mailRecipient,
  splitBody,
} from "./mail-request.ts";
import { createMailWork } from "./mail-work.ts";
import { showFirstMail, showMail, wordsOfMail } from "./show-mail.ts";
import { hasTemplate } from "./templates/template.ts";

/** Mail servers that greylist or throttle relent within hours, not within the minutes in which one is started again. */
const usualPatienceMs = 24 * 60 * 60 * 1000;

/** A mailing: a mail to each recipient, filled in with that recipient's variables. */
export const emailSend = jobKind({
  type: "email.send",
  fields: mailFields,
  trimmed: ["subject"],
  recipients: mailRecipient,
  example: {
    subject: "Your invoice {{ number }}",
    html: "<p>Hello {{ name }}, your invoice is attached.</p>",
    from: "Example Shop <shop@example.com>",
    metadata: { campaign: "november" },
    recipients: [
      { email: "ada@example.com", name: "Ada Lovelace", variables: { number: 17 } },
      { email: "bob@example.com", name: "Bob", variables: { number: 18 } },
    ],
  },
  contradictions: faultsOfWords,
  check: ({ from, route, ...links }, { senders, publicUrl, routesFor }) => {
    const parts = [
      checkHeaders(links),
      checkSender(from, senders),
      checkRoute(route, () => routesFor(from)),
      checkUnsubscribe(links, publicUrl),
    ];
    return parts.every(({ valid }) => valid) ? passed(null) : failed(faultsIn(...parts));
  },
  recipientKey: normalisedAddress,
  toContent: (request) => {
    const { subject, body, html, text, from = null, replyTo = null, headers = {}, unsubscribe = false } = request;
    const isTemplate = [subject, body, html, text].some(hasTemplate);
    return {
      subject,
      ...splitBody(request),
      from,
      replyTo,
      headers,
      ...(isTemplate ? { template: "liquid" } : {}),
      ...(unsubscribe ? { unsubscribe } : {}),
    };
  },
  // The other jobs of its group would wait for all that time: such a job has that patience only if it asks for it.
  deferForMs: ({ deferFor, groupKey }) => {
    if (deferFor !== undefined) return deferFor * 1000;
    return groupKey === undefined ? usualPatienceMs : null;
  },
  routeOf: ({ route }) => route,
  letter: { words: ["subject", "body", "html", "text"], others: ["from", "replyTo", "headers", "unsubscribe"] },
  attachments: ({ attachments = [] }) => attachmentsOf(attachments),
  checkContent: letterFaults,
  dryRun: showFirstMail,
  messageTo: showMail,
  wordsTo: wordsOfMail,
  createWork: ({ contentStore, mail }) => createMailWork({ contentStore, ...mail }),
});
