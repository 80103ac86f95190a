import { type Static, Type } from "typebox";
import { parseJson } from "../../schemas/parse-json.ts";
import { checkRequest } from "../../schemas/request-schema.ts";
import { classify, isOfMailOrSender } from "./classify.ts";
import { nothing, type Reading, toDiagnostic, toFeedbackType, toStatusCode } from "./report.ts";

/**
 * Notifications of Amazon SES, as SNS delivers them over HTTPS: an envelope whose `Message` is JSON in a text, or the
 * message itself where raw delivery is on. Both the notifications of an identity and the events of a configuration set.
 */
export function readSes(body: unknown): readonly Reading[] | null {
  const envelope = checkEnvelope(body);
  const message = envelope.valid ? parsed(envelope.value.Message) : body;
  const checked = checkMessage(message);
  if (!checked.valid) return null;
  const { bounce, complaint, reject, mail } = checked.value;
  const kind = checked.value.notificationType ?? checked.value.eventType ?? "";
  const names = namesOf(mail);
  if (kind === "Bounce" && bounce !== undefined) return [readBounce(bounce, names)];
  if (kind === "Complaint" && complaint !== undefined) {
    const type = toFeedbackType(complaint.complaintFeedbackType ?? "other");
    if (type === "not-spam" || type === "auth-failure") return [nothing("not-a-report")];
    return [{ kind: "report", report: { source: "ses", feedback: { kind: "complaint", complaint: type }, names } }];
  }
  // SES took the mail, found malware in it, and sends it to no one.
  if (kind === "Reject") {
    const told = classify({ status: null, text: toDiagnostic(reject?.reason ?? "") });
    return [{ kind: "report", report: { source: "ses", feedback: { ...told, bounce: "unknown" }, names } }];
  }
  return [nothing(kind === "DeliveryDelay" ? "delayed" : "delivered")];
}

/** The address at which SNS wants to be told that its notifications are welcome; null for any other message. */
export function confirmationOf(body: unknown): string | null {
  const checked = checkConfirmation(body);
  if (!checked.valid) return null;
  const { SubscribeURL: url } = checked.value;
  const isOfSns = URL.canParse(url) && ofSns.test(new URL(url).hostname) && new URL(url).protocol === "https:";
  return isOfSns ? url : null;
}

const ofSns = /^sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/;

const text = Type.String();
const checkEnvelope = checkRequest(Type.Object({ Type: Type.Literal("Notification"), Message: text }));
const checkConfirmation = checkRequest(
  Type.Object({ Type: Type.Literal("SubscriptionConfirmation"), SubscribeURL: Type.String({ maxLength: 2000 }) }),
);
const bounced = Type.Object({
  bounceType: text,
  bounceSubType: Type.Optional(text),
  bouncedRecipients: Type.Array(Type.Object({ status: Type.Optional(text), diagnosticCode: Type.Optional(text) })),
});
const sentMail = Type.Object({
  source: Type.Optional(text),
  headers: Type.Optional(Type.Array(Type.Object({ name: text, value: text }))),
  commonHeaders: Type.Optional(Type.Object({ messageId: Type.Optional(text) })),
  tags: Type.Optional(Type.Record(text, Type.Array(text))),
});
const checkMessage = checkRequest(
  Type.Object({
    notificationType: Type.Optional(text),
    eventType: Type.Optional(text),
    bounce: Type.Optional(bounced),
    complaint: Type.Optional(Type.Object({ complaintFeedbackType: Type.Optional(text) })),
    reject: Type.Optional(Type.Object({ reason: Type.Optional(text) })),
    mail: sentMail,
  }),
);

type Bounced = Static<typeof bounced>;

const badContent: readonly string[] = ["ContentRejected", "MessageTooLarge", "AttachmentRejected"];

/**
 * SES tells of automatic replies as of bounces, and counts none of them itself: without a status, as no mail server sent a
 * notification of one, and often without a recipient.
 */
const isAutoReply = ({ bounceType, bounceSubType, bouncedRecipients }: Bounced): boolean =>
  bouncedRecipients.every(({ status, diagnosticCode }) => status === undefined && diagnosticCode === undefined) &&
  ((bounceType === "Transient" && bounceSubType === "General") ||
    (bounceType === "Undetermined" && bouncedRecipients.length === 0));

/** SES itself tells which addresses it will not try again; of the others, the mail server tells whether it was for the sender. */
function readBounce(bounced: Bounced, names: readonly string[]): Reading {
  if (isAutoReply(bounced)) return nothing("auto-reply");
  const { bounceType, bounceSubType = "", bouncedRecipients } = bounced;
  const [{ status, diagnosticCode = "" } = {}] = bouncedRecipients;
  const told = classify({ status: toStatusCode(status), text: toDiagnostic(diagnosticCode.replace(/^smtp;\s*/i, "")) });
  const isOfSender = told.statusCode !== null && isOfMailOrSender(told.statusCode, told.diagnostic);
  const transient = isOfSender || badContent.includes(bounceSubType) ? "unknown" : "soft";
  const bounce = bounceType === "Permanent" ? "hard" : bounceType === "Transient" ? transient : "unknown";
  return { kind: "report", report: { source: "ses", feedback: { ...told, bounce }, names } };
}

/** The Message-ID is the one that SES gave the mail, unless the header is included. */
function namesOf({ source, headers = [], commonHeaders, tags = {} }: Static<typeof sentMail>): readonly string[] {
  const named = headers.filter(({ name }) => /^(?:message-id|return-path)$/i.test(name)).map(({ value }) => value);
  return [source, ...named, commonHeaders?.messageId, ...Object.values(tags).flat()].filter(
    (name) => name !== undefined,
  );
}

/** Four times as long as SNS delivers any. */
const longestMessage = 1024 * 1024;

function parsed(text: string): unknown {
  if (text.length > longestMessage) return null;
  const json = parseJson(Buffer.from(text));
  return json.parsed ? json.value : null;
}
