import type { Logger } from "pino";
import type { DeadLetterQueries } from "../../../projections/dead-letters/queries.ts";
import type { ProjectionLag } from "../../../projections/following/projection-lag.ts";
import type { ReadPositions } from "../../../projections/following/read-position.ts";
import type { MailingQueries } from "../../../projections/jobs/mailings/queries.ts";
import type { JobQueries } from "../../../projections/jobs/queries.ts";
import type { LogQueries } from "../../../projections/jobs/recipients/log-queries.ts";
import type { RecipientQueries } from "../../../projections/jobs/recipients/queries.ts";
import type { StatsQueries } from "../../../projections/jobs/stats/queries.ts";
import type { MailRateQueries } from "../../../projections/mail-rates/queries.ts";
import type { NotificationQueries } from "../../../projections/notifications/queries.ts";
import type { ReadModels } from "../../../projections/read-models.ts";
import type { ScheduleQueries } from "../../../projections/schedules/queries.ts";
import type { WaitingQueries } from "../../../projections/waiting/queries.ts";
import type { WebhookDeliveryQueries } from "../../../projections/webhook-deliveries/queries.ts";
import type { KeyRecord } from "../../access/key-ring.ts";
import type { Quota } from "../../access/quota.ts";
import type { ContentStore } from "../../content/content-store.ts";
import type { ResultStore } from "../../content/result-store.ts";
import type { TemplateStore } from "../../content/template-store.ts";
import type { Instant } from "../../domain/message.ts";
import type { Providers } from "../../domain/throttles/providers.ts";
import type { ThrottledReceiver } from "../../domain/throttles/throttle.ts";
import type { OutboxRequests } from "../../erasure/complete-erasure.ts";
import type { StoredThings } from "../../erasure/stored-things.ts";
import type { EventLog } from "../../event-log/event-log.ts";
import type { LogGauge, StreamSize } from "../../event-log/following/log-gauge.ts";
import type { LogRoom } from "../../event-log/log-room.ts";
import type { TakeReport } from "../../feedback/take-report.ts";
import type { UnattributedReports } from "../../feedback/unattributed.ts";
import type { Finding } from "../../health/finding.ts";
import type { Live } from "../../history/live/live.ts";
import type { CallerRules, ShowPorts } from "../../job-kinds/job-kind.ts";
import type { MailRouteStore } from "../../mail/routes/mail-route-store.ts";
import type { RouteBook, RoutesFor } from "../../mail/routes/route-book.ts";
import type { Importer } from "../../mailings/import-recipients.ts";
import type { SealKey } from "../../seals/seal-key.ts";
import type { SealedLog } from "../../seals/sealed-log.ts";
import type { Sealer } from "../../seals/sealer.ts";
import type { SuppressionList } from "../../suppressions/suppression-list.ts";
import type { EndpointPorts } from "../../webhooks/endpoints.ts";
import type { Membership } from "../../workers/membership.ts";
import type { RequestContext } from "../server/request-context.ts";
import type { OwnWrites } from "./ask-read-model.ts";

/** What routes about jobs work with. */
export type RouteDependencies = {
  readonly log: EventLog;
  readonly room: LogRoom;
  readonly quota: Quota;
  readonly contentStore: ContentStore;
  /** The files that reports have made. */
  readonly results: Pick<ResultStore, "get" | "ofTenant" | "piecesOf" | "erase">;
  /** Copies of requests in the outbox rows from which jobs were made. */
  readonly outbox: OutboxRequests;
  /** Content that requests have stored without creating their job. */
  readonly storedThings: Pick<StoredThings, "unsettledOf">;
  readonly live: Live;
  readonly jobs: JobQueries;
  readonly mailings: MailingQueries;
  readonly schedules: ScheduleQueries;
  readonly waiting: WaitingQueries;
  readonly importer: Importer;
  /** What came back about mails that were sent. */
  readonly reports: { readonly take: TakeReport; readonly unattributed: Pick<UnattributedReports, "list"> };
  readonly logs: LogQueries;
  readonly recipients: RecipientQueries;
  /** The same over other connections, which an export may keep busy. */
  readonly exportedRecipients: RecipientQueries;
  readonly deadLetters: DeadLetterQueries;
  readonly notifications: NotificationQueries;
  readonly webhooks: EndpointPorts & {
    readonly deliveries: WebhookDeliveryQueries;
    /** Private networks that webhooks may call despite the guard. */
    readonly allowed: CallerRules["allowed"];
  };
  readonly seals: { readonly key: SealKey; readonly sealedLog: SealedLog; readonly sealer: Sealer };
  readonly suppressions: SuppressionList;
  readonly templates: TemplateStore;
  readonly stats: StatsQueries;
  readonly mailRates: MailRateQueries;
  readonly projectionLags: () => Promise<readonly ProjectionLag[]>;
  readonly readModels: ReadModels;
  /** What operators see of the servers that the service depends on. */
  readonly system: {
    readonly streams: () => Promise<readonly StreamSize[]>;
    readonly consumers: LogGauge["consumers"];
    readonly workers: Membership["call"];
    readonly keys: () => Promise<readonly KeyRecord[]>;
    readonly throttles: () => Promise<readonly ThrottledReceiver[]>;
  };
  readonly readPosition: Pick<ReadPositions, "waitFor">;
  readonly ownWrites: OwnWrites;
  readonly logger: Logger;
  readonly mail: ShowPorts["mail"];
  readonly mailRoutes: { readonly book: RouteBook; readonly store: MailRouteStore };
  /** The names of the mail routes that may carry mails of a tenant from this sender. */
  readonly routesFor: RoutesFor;
  /** Which domains of addresses are one receiver of mail. */
  readonly providers: Providers;
  /** What DNS and servers say about a domain that is to send. */
  readonly examineSender: (domain: string) => Promise<readonly Finding[]>;
  /** The number of attempts for a job that does not give one. */
  readonly maxAttempts: number;
  /** A mailing with more recipients needs an approval, of any tenant; null for no limit. */
  readonly approvalAbove: number | null;
  readonly now: () => Instant;
};

/** What the caller may ask for in a request for a job or a mailing. */
export const rulesOf = (
  { webhooks, mail, routesFor }: Pick<RouteDependencies, "webhooks" | "mail" | "routesFor">,
  { tenant, limits }: Pick<RequestContext, "tenant" | "limits">,
): CallerRules => ({
  senders: limits.senders,
  allowed: webhooks.allowed,
  publicUrl: mail.publicUrl,
  routesFor: (from) => routesFor(tenant, from),
});
