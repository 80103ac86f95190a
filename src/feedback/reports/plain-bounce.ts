import type { Address, Email } from "postal-mime";
import { classify } from "./classify.ts";
import { headerIn, namesIn } from "./fields.ts";
import { nothing, type Reading } from "./report.ts";

const autoReplySubject =
  /^(?:re: ?)?(?:auto(?:matic|mated)?[- ]?(?:reply|response|antwort)|out of (?:the )?office|abwesend|abwesenheits|réponse automatique|absence)/i;
const delayedSubject =
  /delay|warning: (?:could not send|message)|not yet (?:been )?delivered|still (?:being )?(?:trying|retried)|verzögert/i;
const failedSubject =
  /undeliver|not deliver|deliver(?:y|ed)?.{0,40}fail|fail.{0,40}deliver|failure notice|returned mail|return(?:ed)? to sender|mail(?:er)? (?:system )?(?:error|failure)|delivery status notification|message (?:blocked|rejected)|unzustellbar|nicht zugestellt|non remis|no se puede entregar|rejected|could ?n[o']t be delivered/i;
const daemon = /^(?:mailer-daemon|postmaster|mail-daemon|mailerdaemon|mdaemon|bounce|noreply-bounce)/i;

/** A line of the text that holds the answer of a mail server, or says what is wrong. */
const telling =
  /(?:^|[^\d.])[45]\d\d[ -]|#?[45]\.\d{1,3}\.\d{1,3}|unknown|no such|does not exist|doesn't exist|doesn't have an?|not found|full|quota|reject|blocked|invalid|unrout|no mailbox|disabled|unavailable|timed out|could not be delivered for/i;
const longestText = 64 * 1024;
/** A line that a mail server writes is shorter. */
const longestLine = 300;

/**
 * A bounce that is no delivery status notification: the text of qmail, of Exim, of older Exchange, and of those who wrote
 * their own. It is one if its sender or its subject says so, and its text what the mail server answered.
 */
export function readPlainBounce(email: Email, names: readonly string[]): Reading {
  const header = new Map(email.headers.map(({ key, value }) => [key, value]));
  const subject = email.subject ?? "";
  const text = (email.text ?? textOfHtml(email.html ?? "")).slice(0, longestText);
  const isFromDaemon = daemon.test(addressIn(email.from));
  if (!isFromDaemon && isAutoReply(header, subject)) return nothing("auto-reply");
  const saysFailed = failedSubject.test(beforeColon(subject));
  const hasFailed = header.has("x-failed-recipients") || saysFailed || isFromDaemon;
  if (!hasFailed) return nothing("not-a-report");
  if (delayedSubject.test(saysFailed ? beforeColon(subject) : subject)) return nothing("delayed");
  const told = tellingLines(text);
  if (told === "") return nothing(isAutoReply(header, subject) ? "auto-reply" : "not-a-report");
  const feedback = classify({ status: null, text: told });
  return { kind: "report", report: { source: "dsn", feedback, names: [...names, ...namesInText(text)] } };
}

/** Behind it stands the subject of our mail, which may itself speak of a delivery that failed, or of a delay. */
const beforeColon = (subject: string): string => subject.split(":", 1)[0] ?? "";

function isAutoReply(header: ReadonlyMap<string, string>, subject: string): boolean {
  const submitted = header.get("auto-submitted")?.toLowerCase() ?? "no";
  return (
    submitted.startsWith("auto-replied") ||
    header.has("x-autoreply") ||
    header.has("x-autorespond") ||
    /auto_reply/i.test(header.get("precedence") ?? "") ||
    autoReplySubject.test(subject)
  );
}

const addressIn = (from: Address | undefined): string => from?.address ?? "";

/** Where the mail that came back begins: a line that says so, its header, or the sign of a quote. What follows are words of the mail. */
const quote =
  /^(?:-{3,}.{0,60}(?:copy|original|forwarded|returned|below)|>|(?:return-path|received|from|to|subject|date|message-id|mime-version|content-type|dkim-signature)[ \t]{0,9}:)/i;

/** Up to three lines from the first telling one on, before the mail that came back is quoted. */
function tellingLines(text: string): string {
  const lines = text.split("\n").map((line) => line.slice(0, longestLine));
  const quoted = lines.findIndex((line) => quote.test(line));
  const own = (quoted < 0 ? lines : lines.slice(0, quoted)).map((line) => line.trim());
  const first = own.findIndex((line) => telling.test(line));
  return first < 0 ? "" : own.slice(first, first + 3).join(" ");
}

/** The header of the mail that came back, which many servers quote in their text. */
function namesInText(text: string): readonly string[] {
  const lines = text.match(/^[> ]*(?:return-path|message-id)[ \t]*:.*(?:\n[ \t]+.*)?$/gim) ?? [];
  return lines.flatMap((line) => namesIn(headerIn(line.replace(/^[> ]+/, ""))));
}

const textOfHtml = (html: string): string =>
  html
    .slice(0, longestText)
    .replace(/<(?:br|\/p|\/div|\/tr|\/li)[^<>]*>/gi, "\n")
    .replace(/<[^<>]*>/g, " ");
