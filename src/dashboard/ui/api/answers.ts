import type { deadLetterPage } from "../../../http/answers/dead-letter.ts";
import type { event, eventPage } from "../../../http/answers/event.ts";
import type { jobExplanation, mailingExplanation } from "../../../http/answers/explanation.ts";
import type { createdJob, dryRunResult, job, jobPage } from "../../../http/answers/job.ts";
import type { createdMailing, mailing, mailingPage, recipientImport } from "../../../http/answers/mailing.ts";
import type { endpointPage, notificationPage } from "../../../http/answers/notices.ts";
import type { AnswerOf } from "../../../http/answers/parts.ts";
import type { ledgerPage, logEntries, recipientPage, suppressionPage } from "../../../http/answers/recipients.ts";
import type { firingPage, ScheduleAnswer, schedulePage } from "../../../http/answers/schedule.ts";
import type { caller, caughtMails, readiness, sealKey, sealPage, stats } from "../../../http/answers/service.ts";
import type { readModelList, systemOf } from "../../../http/answers/system.ts";
import type {
  storedTemplate,
  template,
  templatePage,
  templatePreview,
  templateVersion,
} from "../../../http/answers/template.ts";

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

export type DeadLetterPage = AnswerOf<typeof deadLetterPage>;
export type DeadLetterAnswer = DeadLetterPage["data"][number];
export type NotificationPage = AnswerOf<typeof notificationPage>;
export type NotificationAnswer = NotificationPage["data"][number];
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
export type Dependencies = AnswerOf<typeof readiness>["dependencies"];
export type SealPage = AnswerOf<typeof sealPage>;
export type SealAnswer = SealPage["data"][number];
export type SealKey = AnswerOf<typeof sealKey>;
export type ReadModelList = AnswerOf<typeof readModelList>;
export type ReadModelAnswer = ReadModelList["data"][number];
export type SystemAnswer = AnswerOf<ReturnType<typeof systemOf>>;
export type StreamAnswer = SystemAnswer["streams"][number];
export type CaughtMail = AnswerOf<typeof caughtMails>[number];
