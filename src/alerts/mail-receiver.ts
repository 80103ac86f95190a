import { createHash } from "node:crypto";
import type { AlertEvent } from "../domain/alerts/events.ts";
import { alertInWords, alertTitles } from "../domain/alerts/words.ts";
import { addressOf } from "../domain/recipients/address.ts";
import { idDomainOf, type Letter, type Mailer } from "../mail/mailer.ts";
import type { AlertReceiver } from "./alert-sender.ts";

/** Mails the operator. A mail server that is down is tried again, like any receiver that does not answer. */
export const createMailReceiver = (mailer: Mailer, from: string, to: string): AlertReceiver => ({
  kind: "mail",
  notify: async ({ id, event }) => {
    const outcome = await mailer.send({ letter: toLetter(event, from), to, messageId: messageIdOf(id, to, from) });
    switch (outcome.kind) {
      case "sent":
        return { kind: "notified" };
      case "failed":
        return { kind: "never", code: outcome.error.code };
      // Two copies are better than none, and they have the same Message-ID.
      case "unknown":
      case "deferred":
      case "unavailable":
        return { kind: "later", code: outcome.error.code, retryAfterMs: null };
    }
  },
});

function toLetter(event: AlertEvent, from: string): Letter {
  const { type, at, data } = event;
  const word = type === "AlertRaised" ? "raised" : "cleared";
  const lines = [
    alertInWords(event),
    "",
    `Alert: ${data.alert}, ${word} at ${at}.`,
    "GET /api/admin/jobs/stats shows more.",
  ];
  return {
    from,
    replyTo: null,
    subject: `[Waybill] ${word}: ${alertTitles[data.alert]}`,
    html: null,
    text: `${lines.join("\n")}\n`,
    // RFC 3834: auto-responders must not answer it.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

function messageIdOf(eventId: string, to: string, from: string): string {
  const digest = createHash("sha256").update(`alert\n${eventId}\n${to}`).digest("hex").slice(0, 32);
  return `<${digest}@${idDomainOf(addressOf(from)) || "localhost"}>`;
}
