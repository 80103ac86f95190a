import { createHash } from "node:crypto";
import { maxReportBytes, receiveReport } from "../../feedback/raw-report.ts";
import { readPostmark } from "../../feedback/reports/postmark.ts";
import { readMessage } from "../../feedback/reports/read-message.ts";
import type { NoReport, Reading } from "../../feedback/reports/report.ts";
import { readSendgrid } from "../../feedback/reports/sendgrid.ts";
import { confirmationOf, readSes } from "../../feedback/reports/ses.ts";
import type { Received, Taken } from "../../feedback/take-report.ts";
import { parseJson } from "../../schemas/parse-json.ts";
import { bouncesTaken, takenReport, unattributedReports } from "../answers/bounces.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { type Answer, json, refuseFaults } from "../server/answer.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import type { StreamedBody } from "../server/stream-body.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "reports" | "logger">;

/** SNS says that its JSON is plain text. */
const jsonTypes = ["application/json", "text/plain"];
/** Of the events that one call brings. */
const takenAtOnce = 10;

const providers = {
  ses: readSes,
  postmark: readPostmark,
  sendgrid: readSendgrid,
} as const satisfies Record<string, (body: unknown) => readonly Reading[] | null>;

type Provider = keyof typeof providers;

/** Reports about mails that were sent, however they come. A key reports about the mails of its own tenant alone. */
export const bounceRoutes = (dependencies: Dependencies): readonly Route[] => [
  route({
    method: "POST",
    path: "/bounces",
    describes: {
      operation: "reportBounce",
      summary: "Report a bounce or a complaint: the mail that came back, as it was received.",
      answers: { 200: { is: "What became of it; a report that is sent again changes nothing.", json: takenReport } },
      needs: ["log-writes", "read-model"],
    },
    scope: "bounces:write",
    streams: { types: ["message/rfc822"], examples: { "message/rfc822": returnedMail }, maxBytes: maxReportBytes },
    handle: async (request) => {
      const raw = await receiveReport(streamOf(request).chunks);
      return json(toAnswer(await take(dependencies, request, raw, await readMessage(raw.head, []))));
    },
  }),
  ...(Object.keys(providers) as Provider[]).map((provider) => providerRoute(dependencies, provider)),
  route({
    method: "GET",
    path: "/admin/bounces/unattributed",
    describes: {
      operation: "listUnattributedBounces",
      summary: "Reports of the last month that came by mail and name no mail of this service, the newest first.",
      answers: { 200: { is: "Some thousand at most.", json: unattributedReports } },
      needs: ["log"],
    },
    scope: "admin",
    handle: async () => json({ data: [...(await dependencies.reports.unattributed.list())] }),
  }),
];

const providerRoute = (dependencies: Dependencies, provider: Provider): Route =>
  route({
    method: "POST",
    path: `/bounces/${provider}`,
    describes: {
      operation: `reportBouncesOf${provider[0]?.toUpperCase()}${provider.slice(1)}`,
      summary: `The webhook of ${nameOf[provider]} for bounces and complaints.`,
      answers: { 200: { is: "How many reports it held, and what became of them.", json: bouncesTaken } },
      needs: ["log-writes", "read-model"],
    },
    scope: "bounces:write",
    streams: { types: jsonTypes, examples: examplesOf(provider), maxBytes: maxReportBytes },
    handle: (request) => takeNotification(dependencies, provider, request),
  });

const messageId = "<9f86d081884c7d659a2feaa0c55ad015@example.com>";
const reason = "550 5.1.1 No such user";

const returnedMail = [
  "From: MAILER-DAEMON@example.org",
  "Subject: Undelivered Mail Returned to Sender",
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
  "MIME-Version: 1.0",
  "",
  "--b",
  "Content-Type: message/delivery-status",
  "",
  "Reporting-MTA: dns; example.org",
  "",
  "Final-Recipient: rfc822; ada@example.org",
  "Action: failed",
  "Status: 5.1.1",
  `Diagnostic-Code: smtp; ${reason}`,
  "",
  "--b",
  "Content-Type: text/rfc822-headers",
  "",
  `Message-ID: ${messageId}`,
  "",
  "--b--",
  "",
].join("\r\n");

const notifications: Readonly<Record<Provider, unknown>> = {
  ses: {
    notificationType: "Bounce",
    bounce: { bounceType: "Permanent", bouncedRecipients: [{ status: "5.1.1", diagnosticCode: `smtp; ${reason}` }] },
    mail: { headers: [{ name: "Message-ID", value: messageId }] },
  },
  postmark: { RecordType: "Bounce", Type: "HardBounce", Details: reason, MessageID: messageId },
  sendgrid: [{ event: "bounce", type: "bounce", status: "5.1.1", reason, "smtp-id": messageId }],
};

const examplesOf = (provider: Provider): Readonly<Record<string, string>> =>
  Object.fromEntries(jsonTypes.map((type) => [type, JSON.stringify(notifications[provider])]));

const nameOf: Readonly<Record<Provider, string>> = {
  ses: "Amazon SES, by way of SNS,",
  postmark: "Postmark",
  sendgrid: "SendGrid",
};

async function takeNotification(dependencies: Dependencies, provider: Provider, request: ApiRequest): Promise<Answer> {
  const streamed = streamOf(request);
  const text = await textOf(streamed);
  const raw = { bytes: text.length, sha256: createHash("sha256").update(text).digest("hex") };
  const read = parseJson(text, "body", streamed.takeValues);
  const body = read.parsed ? read.value : null;
  const confirmation = provider === "ses" ? confirmationOf(body) : null;
  if (confirmation !== null) {
    // The holder of a key could otherwise make the service call any address of SNS: a person opens the link.
    dependencies.logger.warn({ url: confirmation }, "open this URL to confirm the subscription of SNS");
    return json(summary([]));
  }
  const readings = providers[provider](body);
  if (readings === null) {
    return refuseFaults([{ pointer: "", message: `the body is no notification of ${provider} that is known` }]);
  }
  const taken: Taken[] = [];
  const left = [...readings.entries()];
  const takeSome = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      taken[next[0]] = await take(dependencies, request, raw, next[1]);
    }
  };
  await Promise.all(Array.from({ length: takenAtOnce }, takeSome));
  return json(summary(taken));
}

/** Several reports of one call have the same digest: that of the call. */
async function take(
  { reports }: Dependencies,
  { context }: ApiRequest,
  raw: Received["raw"],
  reading: Reading,
): Promise<Taken> {
  const { tenant, actor, requestId, traceparent } = context;
  const cause = { actor, correlationId: requestId, causationId: null, traceparent };
  return await reports.take(reading, { raw, tenant, cause });
}

function streamOf({ streamed }: ApiRequest): StreamedBody {
  if (streamed === null) throw new Error("This route takes a stream.");
  return streamed;
}

async function textOf({ chunks }: StreamedBody): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

type ResultOfReport = AnswerOf<typeof takenReport>;

function toAnswer(taken: Taken): ResultOfReport {
  switch (taken.result) {
    case "nothing":
      return { result: "nothing", why: taken.why satisfies NoReport, feedback: null, jobId: null, recipient: null };
    case "unattributed":
      return { result: "unattributed", why: null, feedback: wordOf(taken.report), jobId: null, recipient: null };
    case "recorded":
    case "known": {
      const { jobId, recipient } = taken.mail;
      return { result: taken.result, why: null, feedback: wordOf(taken.report), jobId, recipient };
    }
  }
}

const wordOf = ({ feedback }: { readonly feedback: { readonly kind: string; readonly bounce?: string } }) =>
  feedback.kind === "complaint" ? "complaint" : (`${feedback.bounce}-bounce` as "hard-bounce");

const summary = (taken: readonly Taken[]): AnswerOf<typeof bouncesTaken> => {
  const count = (result: Taken["result"]): number => taken.filter((one) => one.result === result).length;
  return {
    events: taken.length,
    recorded: count("recorded"),
    known: count("known"),
    unattributed: count("unattributed"),
    nothing: count("nothing"),
  };
};
