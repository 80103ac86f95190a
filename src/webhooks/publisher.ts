import type { JobEvent } from "../domain/job/events.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import { foldDeliveries } from "../domain/webhooks/delivery.ts";
import { type EndWebhookType, notifiedMailingTypes, notifiedTypes } from "../domain/webhooks/events.ts";
import { type EventLog, isOfMailing, keyOf, type StoredEvent } from "../event-log/event-log.ts";
import type { Listener } from "../event-log/following/listener.ts";
import { isDecision } from "../event-log/select-events.ts";
import { deliveryIdOf } from "../signed-post/signed-post.ts";
import { readDeliveries } from "./deliveries.ts";
import type { Receivers } from "./receivers.ts";
import type { DeliveryAttempt, Sender } from "./sender.ts";
import { createTenantShares } from "./tenant-shares.ts";

const tryAgainMs = 500;
/** Most decisions need no message. */
const decisionsInHand = 256;
/** First attempts of one tenant that wait for their turn, with those that are made, as long as it takes. */
const shareOfTenant = 32;
const slowMs = 2000;

/**
 * Makes the first attempt of every delivery, straight from the log and so without a database. A decision is done once the
 * outcomes of all its first attempts are recorded. An attempt that is recorded already is not made again, however often
 * the decision comes. Of a tenant whose receivers are slow, what is beyond its share is left to the later attempts at
 * once, so that the messages of others do not wait. Without a checkpoint it begins with the log, so that no ended job is ever skipped. The end of a part
 * of a mailing sends nothing: a mailing of a million would send a thousand messages before the one that its receivers
 * wait for.
 */
export function createPublisher(log: EventLog, receivers: Receivers, sender: Sender): Listener {
  const [withoutUrl, partsOfMailings] = [createRecentKeys(), createRecentKeys()];
  const shares = createTenantShares(shareOfTenant, slowMs);
  const publish = async (decision: Ending, type: EndWebhookType, givenUp: AbortSignal): Promise<void> => {
    const attempts = await firstAttempts(log, receivers, decision, type, !withoutUrl.has(keyOf(decision)));
    const sendOrPutOff = (attempt: DeliveryAttempt): Promise<void> =>
      shares.run(decision.tenant, async (patienceMs) => {
        if (!(await sender.send(attempt, givenUp, patienceMs))) await sender.putOff(attempt, givenUp);
      });
    await Promise.all(attempts.map(sendOrPutOff));
  };
  return {
    name: "webhooks",
    beginAfter: () => 0,
    act: (decision, { givenUp }) => {
      if (isOfMailing(decision)) {
        const type = notifiedMailingTypes[decision.event.type];
        return type === undefined ? null : publish(decision, type, givenUp);
      }
      if (!isDecision(decision)) return null;
      const { event } = decision;
      if (event.type === "JobCreated" && event.data.hasWebhookUrl === false) withoutUrl.add(keyOf(decision));
      if (event.type === "JobCreated" && event.data.mailingId !== undefined) partsOfMailings.add(keyOf(decision));
      const type = notifiedTypes[event.type];
      return type === undefined || partsOfMailings.has(keyOf(decision)) ? null : publish(decision, type, givenUp);
    },
    atOnce: decisionsInHand,
    tryAgainMs,
  };
}

type Ending = StoredEvent<JobEvent | MailingEvent>;

/** As many as are mostly open at a time; what is forgotten is looked up. */
const keysKept = 50_000;

/** The keys that were added last. */
function createRecentKeys() {
  const keys = new Set<string>();
  return {
    has: (key: string): boolean => keys.has(key),
    add: (key: string): void => {
      keys.add(key);
      const [oldest] = keys;
      if (keys.size > keysKept && oldest !== undefined) keys.delete(oldest);
    },
  };
}

async function firstAttempts(
  log: EventLog,
  receivers: Receivers,
  entry: Ending,
  type: EndWebhookType,
  mayNameUrl: boolean,
): Promise<readonly DeliveryAttempt[]> {
  const { tenant, jobId, id, sequence, correlationId, traceparent, event } = entry;
  const job = { tenant, jobId };
  const endpoints = await receivers.endpointsFor(job, type, event.at, mayNameUrl);
  if (endpoints.length === 0 || (await isPart(log, entry))) return [];
  const known = foldDeliveries((await readDeliveries(log, job)).map((notice) => notice.event));
  return endpoints
    .map((endpoint) => ({ endpoint, deliveryId: deliveryIdOf(job, id, endpoint) }))
    .filter(({ deliveryId }) => !known.has(deliveryId))
    .map(({ endpoint, deliveryId }) => ({
      job,
      delivery: { deliveryId, endpoint, type, jobSequence: sequence, round: 1 },
      attempt: 1,
      cause: { correlationId, causationId: id, traceparent },
    }));
}

/** Asked of the log where the creation of the job was too long ago to be remembered. */
async function isPart(log: EventLog, ending: Ending): Promise<boolean> {
  if (isOfMailing(ending)) return false;
  const created = (await log.readDecisions(ending))[0]?.event;
  return created?.type === "JobCreated" && created.data.mailingId !== undefined;
}
