import type { RecipientOutcome } from "../domain/recipients/events.ts";
import type { ReturnEvent } from "../domain/recipients/feedback.ts";
import { allPassed } from "./check.ts";
import { type EvidencedEvent, type EvidenceStatement, erasesAll, isErasure } from "./evidence-format.ts";
import { type EvidencedPart, indexOfParts, type PartIndex } from "./mailing-parts.ts";
import type { EvidenceReport } from "./verify-evidence.ts";

/** The report for people: which recipient was sent what, when, and with which answer; then each check; then the verdict. */
export function linesOfEvidence(report: EvidenceReport): readonly string[] {
  const { statement, events, checks, keyId } = report;
  const index = indexOfParts(events);
  const storyOf = index === null ? storyOfJob : storyOfMailing;
  const story =
    statement === null ? [] : [...headOf(statement, keyId, index), "", ...storyOf(statement, events, index), ""];
  const found = checks.map(({ ok, what, detail }) => `  ${ok ? "[ok]    " : "[FAILED]"} ${what}. ${detail}`.trimEnd());
  const verdict = inSum(report);
  // The warning comes first, so that altered events are not read as facts.
  const warning = allPassed(checks) ? [] : [...verdict, ""];
  return [...warning, ...story, "What was checked", ...found, "", ...verdict];
}

/** The verdict. Whether the bundle is intact and who signed it are separate questions. */
function inSum({ statement, checks, keyId, unnamedKeyIds }: EvidenceReport): readonly string[] {
  if (statement === null) {
    return ["THIS CANNOT BE READ AS A BUNDLE OF EVIDENCE: it is none, or was damaged. Nothing is proved by it."];
  }
  const ofSigner = checks.filter(({ isOfSigner }) => isOfSigner);
  const ofBundle = checks.filter(({ isOfSigner }) => !isOfSigner);
  if (!allPassed(ofBundle.filter(({ mayBeOld, mayLack }) => !mayBeOld && mayLack === undefined))) {
    return ["THE BUNDLE IS NOT WHOLE: it was altered, or is not what it claims to be. Do not rely on it."];
  }
  if (!allPassed(ofBundle.filter(({ mayLack }) => mayLack === undefined))) {
    return [
      "THE BUNDLE LACKS PROOFS: published seals cover entries that it shows without one. It was made before those seals, or it",
      "was altered: ask for the evidence again, and do not rely on this bundle.",
    ];
  }
  if (!allPassed(ofSigner)) {
    return [
      `THE BUNDLE IS WHOLE, AND SIGNED WITH A KEY THAT YOU DID NOT NAME: ${unnamedKeyIds.join(", ")}. Anyone can sign with a key`,
      "of their own: do not rely on it until you know that this one is the service's (GET /api/seals/key there), or was it before",
      "the key was changed: seals of that time keep it.",
    ];
  }
  if (ofBundle.some(({ mayLack }) => mayLack === "some")) {
    return [
      "THE BUNDLE HAS SEALS THAT ARE NOT AMONG THE PUBLISHED ONES THAT YOU HAVE: you lack some that were published, or they are",
      "forged. Get those that you lack, and do not rely on this bundle before you have compared it with them.",
    ];
  }
  if (!allPassed(ofBundle)) {
    return [
      "THE BUNDLE HAS LATER SEALS THAN THE PUBLISHED ONES THAT YOU HAVE: they were published since, or they are forged. Get those",
      "that were published since, and do not rely on this bundle before you have compared it with them.",
    ];
  }
  const whole = "The bundle is whole: what it shows is what the service recorded and signed.";
  const signer = [
    `It is signed with key ${keyId}. Whether that is the service's key, this file cannot say: compare it with GET /api/seals/key`,
    "of the service, or name a key that you trust by --key.",
  ];
  return ofSigner.length > 0 || keyId === null ? [whole] : [whole, ...signer];
}

function headOf(
  { tenant, jobId, madeAt, logSequence }: EvidenceStatement,
  keyId: string | null,
  index: PartIndex | null,
): readonly string[] {
  return [
    `Evidence about ${index === null ? "job" : "mailing"} ${jobId} of tenant ${tenant}`,
    `Made at ${madeAt}, when the log had come to event ${logSequence}; signed with key ${keyId ?? "(none)"}.`,
  ];
}

type Content = {
  readonly subject?: string;
  readonly from?: string | null;
  /** Null for an erased recipient. */
  readonly recipients?: readonly ({ readonly email?: string; readonly url?: string } | null)[];
  readonly attachments?: readonly { readonly filename: string; readonly sha256: string }[];
};

function storyOfJob(statement: EvidenceStatement, events: readonly EvidencedEvent[]): readonly string[] {
  const content = contentOf(statement.content);
  const created = events.find(({ type }) => type === "JobCreated");
  const total = created === undefined ? 0 : Number(created.data["total"]);
  const asked =
    created === undefined ? [] : [`Asked for at ${created.time} by ${created.actor}. Recipients: ${total}.`];
  const what =
    content === null
      ? [`What was sent ${whyAbsent(events)}; recipients are named by their number.`]
      : [
          `Subject: ${JSON.stringify(content.subject ?? "")}${content.from ? `, from ${content.from}` : ""}.`,
          ...(content.attachments ?? []).map(({ filename, sha256 }) => `Attached: ${filename}, SHA-256 ${sha256}.`),
        ];
  return [
    ...asked,
    ...what,
    "",
    "What happened to each recipient",
    ...Array.from({ length: total }, (_, index) => index).flatMap((index) => recipientLines(index, content, events)),
    "",
    "What was decided about the job",
    ...events.filter(({ data }) => data["recipient"] === undefined).flatMap(decisionLines),
  ];
}

/** The index of the parts; what happened to each recipient is in their own bundles. */
function storyOfMailing(
  { content }: EvidenceStatement,
  events: readonly EvidencedEvent[],
  index: PartIndex | null,
): readonly string[] {
  const letter = contentOf(content);
  const created = events[0];
  const parts = index?.parts ?? [];
  const recipients = parts.reduce((sum, part) => sum + part.recipients, 0);
  return [
    `Asked for at ${created?.time} by ${created?.actor}. Recipients: ${recipients}, in ${parts.length} parts.`,
    letter === null ? `The letter ${whyAbsent(events)}.` : `Subject: ${JSON.stringify(letter.subject ?? "")}.`,
    "",
    "The parts, each a job with evidence of its own",
    ...parts.map(partLine),
    "",
    "What was decided about the mailing",
    ...events.filter(({ type }) => type !== "MailingPartsAdded" && type !== "MailingPartsEnded").flatMap(decisionLines),
  ];
}

function partLine({ part, jobId, recipients, contentSha256, counts }: EvidencedPart): string {
  const named = Object.entries(counts ?? {}).filter(([name, count]) => name !== "total" && count > 0);
  const result = counts === null ? "no end was recorded" : named.map(([name, count]) => `${count} ${name}`).join(", ");
  return `  ${part}. job ${jobId}, ${recipients} recipients, content SHA-256 ${contentSha256}: ${result}`;
}

function contentOf(text: string | null): Content | null {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

const whyAbsent = (events: readonly EvidencedEvent[]): string =>
  events.filter(isErasure).some(erasesAll) ? "was erased" : "is not in the bundle";

function recipientLines(index: number, content: Content | null, events: readonly EvidencedEvent[]): readonly string[] {
  const { email, url } = content?.recipients?.[index] ?? {};
  const own = events.filter(({ data }) => data["recipient"] === index);
  const happened = own.map((event) => `    ${event.time}  ${outcomeOf(event)}`);
  return [
    `  ${index + 1}. ${email ?? url ?? "recipient"}`,
    ...(own.length === 0 ? ["    nothing was recorded"] : happened),
  ];
}

const inWords: Readonly<Record<string, string>> = {
  RecipientSent: "accepted by the mail server",
  RecipientFailed: "refused for good",
  RecipientDeferred: "put off until a later attempt",
  RecipientUnknown: "handed over, and no answer came",
  RecipientSuppressed: "not mailed, as the address is on the list of those never mailed",
  RecipientBounced: "came back",
  RecipientComplained: "reported as unwanted by its recipient",
  RecipientUnsubscribed: "unsubscribed from by its recipient",
} satisfies Record<(RecipientOutcome | ReturnEvent)["type"], string>;

/** Clocks differ, and an answer may be late. */
const usualDelayMs = 60_000;

/** An event says itself when it happened; NATS says when it was stored. */
function placeOf({ sequence, time, storedAtMs }: EvidencedEvent, turn = ""): string {
  const isLate = storedAtMs - Date.parse(time) > usualDelayMs;
  return `(event ${sequence}${turn}${isLate ? `, stored only at ${new Date(storedAtMs).toISOString()}` : ""})`;
}

function outcomeOf(event: EvidencedEvent): string {
  const { type, data } = event;
  const error = data["error"] as { readonly message?: string } | undefined;
  const answer = data["response"] ?? error?.message ?? data["diagnostic"];
  const turn = data["run"] === undefined ? "" : `, run ${data["run"]}, attempt ${data["attempt"]}`;
  const said = answer === undefined ? "" : `: ${JSON.stringify(answer)}`;
  const messageId = data["messageId"] === undefined ? "" : ` ${data["messageId"]}`;
  return `${inWords[type] ?? type}${said}${messageId} ${placeOf(event, turn)}`;
}

function decisionLines(event: EvidencedEvent): readonly string[] {
  const { type, time, actor, data } = event;
  if (type === "RecipientsClaimed" || type === "RecipientsReleased") return [];
  const reason = typeof data["reason"] === "string" ? `, because ${JSON.stringify(data["reason"])}` : "";
  return [`    ${time}  ${type} by ${actor}${reason} ${placeOf(event)}`];
}
