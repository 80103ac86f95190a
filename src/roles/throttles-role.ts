import { defaultJobType } from "../domain/job/events.ts";
import { providersOf } from "../domain/throttles/providers.ts";
import type { Throttling } from "../job-kinds/email/hold-back.ts";
import type { MailRouting } from "../mail/routes/mail-routing.ts";
import { createJetStreamThrottleStore } from "../mail/throttles/jetstream-throttle-store.ts";
import { createReceivers, createReceiversOfRoutes } from "../mail/throttles/receivers.ts";
import { recordThrottles } from "../mail/throttles/record-throttles.ts";
import { shareThrottles } from "../mail/throttles/share-throttles.ts";
import { createOutageReport } from "../process/logger.ts";
import { countLiveWorkers } from "../workers/live-workers.ts";
import type { Membership } from "../workers/membership.ts";
import { slotsOfLarge } from "../workers/slots.ts";
import type { Parts } from "./parts.ts";

const countEveryMs = 5000;
/** As many entries as are followed and shown without effort; further receivers are mailed as if they had not refused. */
const mostThrottled = 10_000;

/** Slows down receivers that ask for patience, together with the other workers. */
export function startThrottling(parts: Parts, routing: MailRouting, membership: Membership): Throttling | null {
  const { config, logger, connection, lifecycle, observer } = parts;
  if (!config.mailThrottling) return null;
  const report = createOutageReport(logger, { part: "throttles" }).failed;
  const connectionsOf = (route: string): number =>
    routing.runs().find(({ name }) => name === route)?.mailer.connections ?? routing.connections;
  const routes = createReceiversOfRoutes((route) =>
    createReceivers({ connections: connectionsOf(route), workers: () => live.count(), most: mostThrottled }),
  );
  const isNeeded = (): boolean => routes.size() > 0;
  const live = countLiveWorkers(membership, { type: defaultJobType, everyMs: countEveryMs, isNeeded, report });
  const { natsPrefix: prefix, streamReplicas: replicas } = config;
  const sharing = shareThrottles({
    store: createJetStreamThrottleStore(connection, { prefix, replicas }),
    routes,
    records: recordThrottles({
      log: parts.log,
      actor: `worker:${config.processName}`,
      stopping: lifecycle.stopping,
    }),
    report,
  });
  observer.metrics.mail.watchThrottles(routes.size);
  live.start();
  sharing.start();
  lifecycle.started("the throttles", async () => {
    await sharing.stop();
    await live.stop();
  });
  // They leave half of the slots to others.
  const stays = Math.floor(config.workerConcurrency / slotsOfLarge / 2);
  return { of: routes.of, isFree: () => routes.size() === 0, providers: providersOf(config.mailProviders), stays };
}
