import PostalMime, { type Attachment, type Email } from "postal-mime";
import { readBytes } from "../raw-report.ts";
import { classify } from "./classify.ts";
import { blocksIn, type Fields, headerIn, namesIn, withoutType } from "./fields.ts";
import { readPlainBounce } from "./plain-bounce.ts";
import { nothing, type Reading, toDiagnostic, toFeedbackType } from "./report.ts";

const limits = { forceRfc822Attachments: true, maxNestingDepth: 8, maxHeadersSize: 48 * 1024 } as const;
/** What could be the beginnings of parts, and lines: the parser takes time for each. A report has three parts. */
const most = { boundaries: 60, lines: 8000 } as const;

/** Its parts, as texts of so many characters at most. */
const longestPart = 128 * 1024;

/**
 * Reads a mail that came to a return path, or to the address for complaints: a delivery status notification (RFC 3464), a
 * complaint (RFC 5965), or one of the forms that mail servers use beside them. `envelopeTo` are the addresses that it was sent
 * to. Never throws because of what is in the mail.
 */
export async function readMessage(raw: Buffer, envelopeTo: readonly string[]): Promise<Reading> {
  const email = await parse(upTo(upTo(raw.subarray(0, readBytes), "\n", most.lines), "\n--", most.boundaries));
  if (email === null) return nothing("not-a-report");
  const enclosed = enclosedIn(email);
  const names = [...envelopeTo, ...namesOf(email, enclosed)];
  const complaint = partOf(email, ["message/feedback-report"]);
  if (complaint !== null) return readComplaint(complaint, names);
  const status = partOf(email, ["message/delivery-status", "message/global-delivery-status"]);
  if (status !== null) return readStatus(status, names);
  if (enclosed.some((fields) => fields.has(markOfMicrosoft))) return complaintOf("abuse", names);
  return readPlainBounce(email, names);
}

/** What is before the mark comes for the so-many-eth time. */
function upTo(raw: Buffer, mark: string, times: number): Buffer {
  let at = raw.indexOf(mark);
  for (let found = 1; at >= 0 && found < times; found += 1) at = raw.indexOf(mark, at + 1);
  return at < 0 ? raw : raw.subarray(0, at);
}

async function parse(raw: Buffer): Promise<Email | null> {
  try {
    return await withoutConversion(new PostalMime(limits)).parse(raw);
  } catch {
    return null;
  }
}

/** Of each part of the text, what it was written in. */
type TextsOfParser = {
  textContent: Record<string, string>;
  readonly textMap: ReadonlyMap<unknown, Readonly<Record<string, readonly { readonly value: unknown }[]>>>;
  renderTextContent: () => void;
};

/**
 * The parser makes text of HTML where a mail has both, which takes seconds for some that are made for it. A report is read
 * without that, so the text and the HTML are each what the mail has of them.
 */
function withoutConversion(parser: PostalMime): PostalMime {
  const own = parser as unknown as TextsOfParser;
  const textOf = (type: string): string =>
    [...own.textMap.values()]
      .flatMap((entry) => entry[type] ?? [])
      .map(({ value }) => (typeof value === "string" ? value : ""))
      .join("\n");
  own.renderTextContent = () => {
    own.textContent = { plain: textOf("plain"), html: textOf("html") };
  };
  return parser;
}

const textOf = ({ content }: Attachment): string =>
  (typeof content === "string" ? content : Buffer.from(content as Uint8Array).toString("utf8")).slice(0, longestPart);

function partOf({ attachments }: Email, types: readonly string[]): string | null {
  const part = attachments.find(({ mimeType }) => types.includes(mimeType));
  return part === undefined ? null : textOf(part);
}

/** What is more is there to harm. */
const [mostAddressed, mostEnclosed] = [5, 5];

const returned = ["message/rfc822", "message/global", "text/rfc822-headers", "message/global-headers"];

/** The return path that the message was sent to, as a mail server writes it into the header on the way to a command. */
const addressedIn: readonly string[] = ["delivered-to", "x-original-to", "to"];

/** The headers of the mails that came back. */
const enclosedIn = ({ attachments }: Email): readonly Fields[] =>
  attachments
    .filter(({ mimeType }) => returned.includes(mimeType))
    .slice(0, mostEnclosed)
    .map((part) => headerIn(textOf(part)));

function namesOf({ headers, inReplyTo, references }: Email, enclosed: readonly Fields[]): readonly string[] {
  const addressed = headers.filter(({ key }) => addressedIn.includes(key)).slice(0, mostAddressed);
  return [...addressed.map(({ value }) => value), ...enclosed.flatMap(namesIn), inReplyTo, references].filter(
    (name) => name !== undefined,
  );
}

/** The complaints of Outlook.com (JMRP) may be no ARF: they enclose the mail, and add this field to its header. */
const markOfMicrosoft = "x-hmxmroriginalrecipient";

const complaintOf = (complaint: string, names: readonly string[]): Reading => ({
  kind: "report",
  report: { source: "arf", feedback: { kind: "complaint", complaint }, names },
});

/** RFC 5965 3.2: the field `Original-Mail-From` is the return path of the mail. */
function readComplaint(text: string, names: readonly string[]): Reading {
  const [fields = new Map()] = blocksIn(text) as readonly Fields[];
  const type = fields.get("feedback-type")?.toLowerCase() ?? "other";
  // What it calls wanted mail (not-spam), or is about authentication (RFC 6591), is no complaint.
  if (type === "not-spam" || type === "auth-failure" || type === "dmarc") return nothing("not-a-report");
  const from = fields.get("original-mail-from");
  return complaintOf(toFeedbackType(type), from === undefined ? names : [...names, from]);
}

const badness = { unknown: 0, soft: 1, hard: 2 } as const;

/** One block for each recipient after the one about the message; the worst counts, as a mail of ours has one recipient. */
function readStatus(text: string, names: readonly string[]): Reading {
  const blocks = blocksIn(text);
  const about = blocks.filter((fields) => fields.has("action") || fields.has("status"));
  const failed = about.filter((fields) => actionOf(fields) === "failed");
  if (failed.length === 0)
    return nothing(about.some((fields) => actionOf(fields) === "delayed") ? "delayed" : why(about));
  const bounces = failed.map((fields) =>
    classify({ status: statusOf(fields), text: toDiagnostic(withoutType(fields.get("diagnostic-code") ?? "")) }),
  );
  const [worst] = bounces.sort((one, other) => badness[other.bounce] - badness[one.bounce]);
  if (worst === undefined) return nothing("not-a-report");
  const all = [...names, ...blocks.flatMap(namesIn)];
  return { kind: "report", report: { source: "dsn", feedback: worst, names: all } };
}

const why = (about: readonly Fields[]) => (about.length === 0 ? "not-a-report" : "delivered");

/** Some servers leave the action out: a status of class 5 is a failure. */
function actionOf(fields: Fields): string {
  const action = /^[a-z-]+/.exec(fields.get("action")?.toLowerCase() ?? "")?.[0];
  return action ?? (fields.get("status")?.startsWith("5") ? "failed" : "delivered");
}

const statusOf = (fields: Fields): string | null =>
  /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(fields.get("status") ?? "")?.[1] ?? null;
