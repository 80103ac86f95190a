import type { NotificationList, NotificationListOptions } from "../../../projections/notifications/queries.ts";
import type { Instant } from "../../domain/message.ts";
import type { NotificationEvent, NotificationRecord } from "../../domain/notifications/notification.ts";
import { isAboutMailing } from "../../domain/webhooks/events.ts";
import type { Cause, EventLog, JobRef } from "../../event-log/event-log.ts";
import { Archived } from "../../event-log/log-failures.ts";
import { notificationFromLog } from "../../history/notification-from-log.ts";
import {
  notificationPage,
  notification as notificationSchema,
  notificationsRead,
  toListedNotification,
  toNotificationAnswer,
} from "../answers/notices.ts";
import { type Answer, json, refuse } from "../server/answer.ts";
import { flag, type Parameters, whole } from "../server/query.ts";
import { toCause, toRunRef } from "../server/request-context.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, caughtUp, readSequenceHeader, refuseBehind } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<
  RouteDependencies,
  "notifications" | "jobs" | "mailings" | "log" | "readPosition" | "ownWrites" | "now"
>;

type Query = Omit<NotificationListOptions, "unreadOnly"> & { readonly unread: boolean };

const parameters: Parameters<Query> = {
  unread: flag(false),
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
  limit: whole(20, 1, 100),
};

/** Ended jobs and mailings, for the key that requested them: no other key sees them, not even one of the same tenant. */
export const notificationRoutes = (dependencies: Dependencies): readonly Route[] => [
  route<Query>({
    method: "GET",
    path: "/notifications",
    describes: {
      operation: "listNotifications",
      summary: "Ended jobs and mailings, for the key that requested or started them.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "The newest first.", json: notificationPage, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: (request) => list(dependencies, request),
  }),
  route({
    method: "POST",
    path: "/notifications/:id/read",
    describes: {
      operation: "markNotificationRead",
      summary: "Mark a notification as read.",
      answers: { 200: { is: "The notification as it is now.", json: notificationSchema, headers: ["Event-Sequence"] } },
      needs: ["log-writes"],
      problems: ["notification-not-found"],
    },
    handle: (request) => markRead(dependencies, request),
  }),
  route({
    method: "POST",
    path: "/notifications/read",
    describes: {
      operation: "markNotificationsRead",
      summary: "Mark all notifications of the key as read, up to 1,000 at a time.",
      answers: {
        200: { is: "How many were marked; where there are more, the same call goes on.", json: notificationsRead },
      },
      needs: ["read-model", "log-writes"],
      problems: ["read-model-behind"],
    },
    handle: (request) => markAllRead(dependencies, request),
  }),
];

async function list(
  { notifications, jobs, mailings, readPosition, ownWrites }: Dependencies,
  { context, query, minSequence, base }: ApiRequest<Query>,
): Promise<Answer> {
  const behind = await awaitMinSequence(readPosition, "notifications", minSequence);
  if (behind !== null) return behind;
  await caughtUp(readPosition, "notifications", ownWrites.ofTenant(context.tenant));
  const { unread: unreadOnly, ...page } = query;
  const found = await askReadModel(() => notifications.list(context.tenant, context.actor, { unreadOnly, ...page }));
  const idsOf = (isMailing: boolean) =>
    found.notifications.filter(({ type }) => isAboutMailing(type) === isMailing).map(({ jobId }) => jobId);
  const [ofJobs, ofMailings] = await askReadModel(() =>
    Promise.all([jobs.names(context.tenant, idsOf(false)), mailings.names(context.tenant, idsOf(true))]),
  );
  const names = new Map([...ofJobs, ...ofMailings]);
  const data = found.notifications.map((one) => toListedNotification(one, names.get(one.jobId), base));
  return json({ data, nextCursor: found.nextCursor }, readSequenceHeader(found.readSequence));
}

/**
 * The mark is a fact of the log, so that it outlives every rebuild; it needs no database. The first request sets the time,
 * and repetitions keep it. Of two concurrent requests the log keeps one event, because both have the same id.
 */
async function markRead(dependencies: Dependencies, { context, part, base, inTime }: ApiRequest): Promise<Answer> {
  const { log, ownWrites, now } = inTime(dependencies);
  const ref = toRunRef(context, part("id"));
  const found = ref && (await notificationFromLog(log, ref.job, ref.run, context.actor));
  if (!found) return refuse("notification-not-found", "There is no notification with this id.");
  const { notification, readSequence } = found;
  if (readSequence !== null) return answer(notification, base, readSequence);
  const at = now();
  const sequence = await recordRead(log, { ...ref, at, cause: toCause(context), causeId: found.causeId });
  ownWrites.remember(ref.job, sequence);
  const stored = await notificationFromLog(log, ref.job, ref.run, context.actor);
  return answer(stored?.notification ?? { ...notification, readAt: at }, base, sequence);
}

type Reading = {
  readonly job: JobRef;
  readonly run: number;
  readonly at: Instant;
  readonly cause: Cause;
  readonly causeId: string;
};

const recordRead = (log: Pick<EventLog, "record">, { job, run, at, cause, causeId }: Reading): Promise<number> => {
  const event: NotificationEvent = { type: "NotificationRead", at, data: { run } };
  return log.record(job, [{ ...cause, causationId: causeId, id: `${job.jobId}/${run}/${event.type}`, event }]);
};

const pageOfUnread = 100;
const mostPages = 10;
const marksAtOnce = 8;
/** Shorter than the request may wait for NATS: what was marked until then is told. */
const markForMs = 1000;

/**
 * What ends after the call began is not marked: nobody has seen it. A caller that goes on as long as there are more comes to
 * an end: an answer that there are more has marked some, and of a read model that shows only what is marked already the
 * caller is told that it is behind.
 */
async function markAllRead(dependencies: Dependencies, { context, inTime }: ApiRequest): Promise<Answer> {
  const { notifications, readPosition, log, ownWrites, now } = inTime(dependencies);
  await caughtUp(readPosition, "notifications", ownWrites.ofTenant(context.tenant));
  const { tenant, actor } = context;
  let [read, cursor]: [number, string | null] = [0, null];
  /** The last mark that the read model does not show. */
  let missing = 0;
  // From the first page on: what a slow database took before leaves the time for NATS as it is.
  let endsAt = Number.POSITIVE_INFINITY;
  const isOver = (): boolean => performance.now() >= endsAt;
  let isCutShort = false;
  for (let pages = 0; pages === 0 || (cursor !== null && pages < mostPages && !isOver()); pages += 1) {
    const options = { unreadOnly: true, cursor: cursor === null ? null : Number(cursor), limit: pageOfUnread };
    const page: NotificationList = await askReadModel(() => notifications.list(tenant, actor, options));
    if (pages === 0) endsAt = performance.now() + markForMs;
    const unread = page.notifications.values();
    const mark = async (): Promise<void> => {
      for (const { jobId, run } of unread) {
        isCutShort ||= isOver();
        if (isCutShort) return;
        const job = { tenant, jobId };
        const found = await notificationFromLog(log, job, run, actor).catch(nullIfArchived);
        missing = Math.max(missing, found?.readSequence ?? 0);
        if (found === null || found.readSequence !== null) continue;
        const reading = { job, run, at: now(), cause: toCause(context), causeId: found.causeId };
        ownWrites.remember(job, await recordRead(log, reading));
        read += 1;
      }
    };
    await Promise.all(Array.from({ length: marksAtOnce }, mark));
    cursor = page.nextCursor;
  }
  const hasMore = isCutShort || cursor !== null;
  if (hasMore && read === 0 && missing > 0) return refuseBehind(missing);
  return json({ read, hasMore: hasMore && read > 0 });
}

/** What is in an archive that is not at hand stays as it is, and keeps no other from being marked. */
function nullIfArchived(failure: unknown): null {
  if (failure instanceof Archived) return null;
  throw failure;
}

const answer = (notification: NotificationRecord, base: string, sequence: number): Answer =>
  json(toNotificationAnswer(notification, base), { "Event-Sequence": String(sequence) });
