import { type Static, Type } from "typebox";
import { checkRequest } from "../../schemas/request-schema.ts";
import { classify } from "./classify.ts";
import { nothing, type Reading, toDiagnostic, toStatusCode } from "./report.ts";

const text = Type.String();
const notification = Type.Object({
  event: text,
  type: Type.Optional(text),
  status: Type.Optional(text),
  reason: Type.Optional(text),
  "smtp-id": Type.Optional(text),
});
const check = checkRequest(notification);
const mostEvents = 10_000;

/**
 * The event webhook of SendGrid, which brings many events at a time, of all applications of the account. `smtp-id` is the
 * Message-ID that the mail was handed over with. The arguments that a sender adds stand beside the fields of SendGrid, and take
 * the place of those that they are named as: such an event keeps no others away.
 */
export function readSendgrid(body: unknown): readonly Reading[] | null {
  if (!Array.isArray(body) || body.length > mostEvents) return null;
  const events = body.map((event) => check(event));
  if (events.length > 0 && !events.some(({ valid }) => valid)) return null;
  return events.map((event) => (event.valid ? readEvent(event.value) : nothing("not-a-report")));
}

function readEvent(event: Static<typeof notification>): Reading {
  const names = [event["smtp-id"], ...customOf(event)].filter((name) => name !== undefined);
  switch (event.event) {
    case "spamreport":
      return {
        kind: "report",
        report: { source: "sendgrid", feedback: { kind: "complaint", complaint: "abuse" }, names },
      };
    case "bounce": {
      const told = classify({ status: toStatusCode(event.status), text: toDiagnostic(event.reason ?? "") });
      // Blocked: refused because of the mail or its sender, and tried again next time.
      const bounce = event.type === "blocked" ? "unknown" : event.type === "bounce" ? "hard" : told.bounce;
      return { kind: "report", report: { source: "sendgrid", feedback: { ...told, bounce }, names } };
    }
    case "dropped": {
      // It mails this address no more, as it bounced, complained or unsubscribed. "Invalid SMTPAPI header" is about a header of the mail.
      const isOfAddress = /(?:bounced|spam reporting|unsubscribed) address|invalid(?! smtpapi)/i.test(
        event.reason ?? "",
      );
      const told = classify({ status: null, text: toDiagnostic(event.reason ?? "") });
      return {
        kind: "report",
        report: { source: "sendgrid", feedback: { ...told, bounce: isOfAddress ? "hard" : "unknown" }, names },
      };
    }
    case "deferred":
      return nothing("delayed");
    default:
      return nothing("delivered");
  }
}

/** What a sender adds to a mail stands beside the fields of SendGrid itself. */
const customOf = (event: object): readonly string[] =>
  Object.entries(event).flatMap(([name, value]) =>
    /^waybill/i.test(name) && typeof value === "string" ? [value] : [],
  );
