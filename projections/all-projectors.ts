import { deadLettersProjector } from "./dead-letters/projector.ts";
import { jobsProjector } from "./jobs/projector.ts";
import { mailRatesProjector } from "./mail-rates/projector.ts";
import { notificationsProjector } from "./notifications/projector.ts";
import type { Projector } from "./projector.ts";
import { schedulesProjector } from "./schedules/projector.ts";
import { waitingProjector } from "./waiting/projector.ts";
import { webhookDeliveriesProjector } from "./webhook-deliveries/projector.ts";

/** Every read model of the service, in the order in which `waybill rebuild` rebuilds them. */
export const allProjectors: readonly Projector[] = [
  jobsProjector,
  deadLettersProjector,
  waitingProjector,
  webhookDeliveriesProjector,
  notificationsProjector,
  schedulesProjector,
  mailRatesProjector,
];
