import { deadLettersProjector } from "./dead-letters/projector.ts";
import { jobsProjector } from "./jobs/projector.ts";
import { logsProjector } from "./logs/projector.ts";
import { notificationsProjector } from "./notifications/projector.ts";
import type { Projector } from "./projector.ts";
import { recipientsProjector } from "./recipients/projector.ts";
import { statsProjector } from "./stats/projector.ts";
import { waitingProjector } from "./waiting/projector.ts";
import { webhookDeliveriesProjector } from "./webhook-deliveries/projector.ts";

/** Every read model of the service, in the order in which `waybill rebuild` rebuilds them. */
export const allProjectors: readonly Projector[] = [
  jobsProjector,
  logsProjector,
  recipientsProjector,
  deadLettersProjector,
  waitingProjector,
  statsProjector,
  webhookDeliveriesProjector,
  notificationsProjector,
];
