import type { BulkAnswer } from "../../../http/answers/bulk.ts";
import type { deadLetterCauses, deadLetterPage } from "../../../http/answers/dead-letter.ts";
import type { event, eventPage } from "../../../http/answers/event.ts";
import type { jobExplanation, mailingExplanation } from "../../../http/answers/explanation.ts";
import type { createdJob, dryRunResult, job, jobPage } from "../../../http/answers/job.ts";
import type { MailRouteAnswer, mailRouteList } from "../../../http/answers/mail-route.ts";
import type { createdMailing, mailing, mailingPage, recipientImport } from "../../../http/answers/mailing.ts";
import type { endpointPage, notificationPage, notificationsRead } from "../../../http/answers/notices.ts";
import type { AnswerOf } from "../../../http/answers/parts.ts";
import type { ledgerPage, logEntries, recipientPage, suppressionPage } from "../../../http/answers/recipients.ts";
import type { firingPage, ScheduleAnswer, schedulePage } from "../../../http/answers/schedule.ts";
import type { senderReadiness } from "../../../http/answers/sender-readiness.ts";
import type {
  caller,
  caughtMails,
  mailRates,
  readiness,
  sealKey,
  sealPage,
  stats,
  statsSeries,
} from "../../../http/answers/service.ts";
import type { readModelList, systemOf } from "../../../http/answers/system.ts";
import type {
  storedTemplate,
  template,
  templatePage,
  templatePreview,
  templateVersion,
} from "../../../http/answers/template.ts";
import type { throttleList } from "../../../http/answers/throttles.ts";

// The answers of the API, by the schemas that describe them. Only types may come from the server: its code would be built
// into what the browser loads.

export type JobAnswer = AnswerOf<typeof job>;
export type JobPage = AnswerOf<typeof jobPage>;
export type CreatedAnswer = AnswerOf<typeof createdJob>;
export type DryRunAnswer = AnswerOf<typeof dryRunResult>;

export type MailingAnswer = AnswerOf<typeof mailing>;
export type MailingPage = AnswerOf<typeof mailingPage>;
export type CreatedMailingAnswer = AnswerOf<typeof createdMailing>;
export type ImportAnswer = AnswerOf<typeof recipientImport>;

export type ExplanationAnswer = AnswerOf<typeof jobExplanation> | AnswerOf<typeof mailingExplanation>;

export type { ScheduleAnswer };
export type SchedulePage = AnswerOf<typeof schedulePage>;
export type FiringPage = AnswerOf<typeof firingPage>;
export type FiringAnswer = FiringPage["data"][number];

export type TemplatePage = AnswerOf<typeof templatePage>;
export type TemplateAnswer = AnswerOf<typeof template>;
export type TemplateVersionAnswer = AnswerOf<typeof templateVersion>;
export type LetterAnswer = TemplateVersionAnswer["letter"];
export type StoredTemplateAnswer = AnswerOf<typeof storedTemplate>;
export type TemplatePreviewAnswer = AnswerOf<typeof templatePreview>;

export type EventAnswer = AnswerOf<typeof event>;
export type EventPage = AnswerOf<typeof eventPage>;

export type { BulkAnswer };

export type DeadLetterCauses = AnswerOf<typeof deadLetterCauses>;
export type DeadLetterPage = AnswerOf<typeof deadLetterPage>;
export type DeadLetterAnswer = DeadLetterPage["data"][number];
export type NotificationPage = AnswerOf<typeof notificationPage>;
export type NotificationAnswer = NotificationPage["data"][number];
export type NotificationsRead = AnswerOf<typeof notificationsRead>;
export type EndpointPage = AnswerOf<typeof endpointPage>;

export type LogEntry = AnswerOf<typeof logEntries>[number];
export type RecipientPage = AnswerOf<typeof recipientPage>;
export type RecipientAnswer = RecipientPage["data"][number];
export type LedgerPage = AnswerOf<typeof ledgerPage>;

/** One attempt, as a ledger or the log of a job describes it. */
export type Attempt = Pick<LogEntry, "run" | "attempt" | "messageId" | "response" | "error"> & {
  readonly status: string;
  readonly at: string;
};

export type SuppressionPage = AnswerOf<typeof suppressionPage>;

export type Me = AnswerOf<typeof caller>;
export type Scope = Me["scopes"][number];

export type StatsAnswer = AnswerOf<typeof stats>;
export type SeriesAnswer = AnswerOf<typeof statsSeries>;
export type MailRatesAnswer = AnswerOf<typeof mailRates>;
export type Dependencies = AnswerOf<typeof readiness>["dependencies"];
export type SealPage = AnswerOf<typeof sealPage>;
export type SealAnswer = SealPage["data"][number];
export type SealKey = AnswerOf<typeof sealKey>;
export type ReadModelList = AnswerOf<typeof readModelList>;
export type ReadModelAnswer = ReadModelList["data"][number];
export type { MailRouteAnswer };
export type MailRouteList = AnswerOf<typeof mailRouteList>;
export type SystemAnswer = AnswerOf<ReturnType<typeof systemOf>>;
export type StreamAnswer = SystemAnswer["streams"][number];
export type SenderReadiness = AnswerOf<typeof senderReadiness>;
export type ThrottleListAnswer = AnswerOf<typeof throttleList>;
export type CaughtMail = AnswerOf<typeof caughtMails>[number];
