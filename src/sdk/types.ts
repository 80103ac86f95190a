import type { components, paths } from "./api.ts";

type Schemas = components["schemas"];

export type Job = Schemas["Job"];
export type DryRun = Schemas["DryRun"];
export type Mailing = Schemas["Mailing"];
export type Problem = Schemas["Problem"];
export type RecipientImport = Schemas["RecipientImport"];
export type LogEvent = Schemas["Event"];
export type LogEntry = Schemas["LogEntry"];
export type Recipient = Schemas["Recipient"];
export type MailingLogEntry = Schemas["MailingLogEntry"];
export type MailingRecipient = Schemas["MailingRecipient"];
export type LedgerEntry = Schemas["LedgerEntry"];
export type Schedule = Schemas["Schedule"];
export type ScheduleRequest = Schemas["ScheduleRequest"];
export type Firing = Schemas["Firing"];
export type Template = Schemas["Template"];
export type TemplateRequest = Schemas["TemplateRequest"];
export type TemplateSummary = Schemas["TemplateSummary"];
export type Suppression = Schemas["Suppression"];
export type DeadLetter = Schemas["DeadLetter"];
export type WebhookEndpoint = Schemas["WebhookEndpoint"];
export type WebhookDelivery = Schemas["WebhookDelivery"];
export type Notification = Schemas["ListedNotification"];
export type Stats = Schemas["Stats"];

type Success = 200 | 201 | 202 | 204;
type Json<Content> = Content extends { readonly "application/json": infer Body } ? Body : undefined;
type ContentOf<Answer> = Answer extends { readonly content: infer Content } ? Json<Content> : undefined;

export type Method = "get" | "post" | "put" | "patch" | "delete";
export type Path = keyof paths;
/** The methods of a path. */
export type MethodOf<P extends Path> = {
  [M in Method]: M extends keyof paths[P] ? (paths[P][M] extends object ? M : never) : never;
}[Method];

type Operation<P extends Path, M> = M extends keyof paths[P] ? NonNullable<paths[P][M]> : never;
type Parameters<P extends Path, M, In extends string> =
  Operation<P, M> extends { readonly parameters: infer All }
    ? In extends keyof All
      ? NonNullable<All[In]>
      : Record<never, never>
    : never;

export type QueryOf<P extends Path, M> = Parameters<P, M, "query">;
export type BodyOf<P extends Path, M> =
  Operation<P, M> extends { readonly requestBody?: infer Body }
    ? Json<NonNullable<Body> extends { readonly content: infer C } ? C : never>
    : never;
export type AnswerTo<P extends Path, M> =
  Operation<P, M> extends { readonly responses: infer Answers } ? ContentOf<Answers[keyof Answers & Success]> : never;

type WithoutDryRun<Body> = Body extends unknown ? Omit<Body, "dryRun"> : never;

/** A dry run, which makes no job, has a method of its own. */
export type JobRequest = WithoutDryRun<BodyOf<"/api/jobs", "post">>;
export type CreatedJob = Schemas["CreatedJob"];
export type MailingRequest = BodyOf<"/api/mailings", "post">;
export type CreatedMailing = Schemas["CreatedMailing"];
/** A line of an import: `ada@example.com`, `Ada <ada@example.com>`, or an address with a name and variables. */
export type MailRecipient = Schemas["EmailSendRequest"]["recipients"][number];

/** Options of every call. */
export type CallOptions = { readonly signal?: AbortSignal | undefined };
/** The same request with the same key takes effect once, for ever. A key is made where none is given. */
export type CreateOptions = CallOptions & { readonly idempotencyKey?: string | undefined };
/** Without a limit it waits for as long as it takes. */
export type WaitOptions = CallOptions & { readonly timeoutMs?: number };
/** Why something was decided; the log keeps it for ever. */
export type Reason = CallOptions & { readonly reason?: string };
