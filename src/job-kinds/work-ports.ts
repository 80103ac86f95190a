import type { ContentStore } from "../content/content-store.ts";
import type { BrokenMailer } from "../mail/breaker.ts";
import type { Pace } from "../mail/pace.ts";
import type { SuppressionGuard } from "../suppressions/suppression-guard.ts";
import type { ReportPorts } from "./report/report-work.ts";
import type { DeliveryDependencies } from "./webhook/delivery-work.ts";

/** What the work of the kinds is done with; each takes what it needs. */
export type WorkPorts = {
  readonly contentStore: ContentStore;
  readonly mail: {
    readonly mailer: BrokenMailer;
    readonly pace: Pace;
    readonly mailFrom: string;
    readonly batchDelayMs: number;
    /** Who is not to be mailed. */
    readonly suppressions: SuppressionGuard;
    /** Where people outside reach the service; null where mails can have no links to it. */
    readonly publicUrl: string | null;
  };
  readonly reports: Omit<ReportPorts, "contentStore">;
  readonly webhooks: Omit<DeliveryDependencies, "contentStore">;
};
