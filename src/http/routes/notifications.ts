import type { NotificationListOptions } from "../../../projections/notifications/queries.ts";
import type { NotificationEvent, NotificationRecord } from "../../domain/notifications/notification.ts";
import { notificationFromLog } from "../../history/notification-from-log.ts";
import { notificationPage, notification as notificationSchema, toNotificationAnswer } from "../answers/notices.ts";
import { type Answer, json, refuse } from "../server/answer.ts";
import { flag, type Parameters, whole } from "../server/query.ts";
import { toCause, toRunRef } from "../server/request-context.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, caughtUp, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "notifications" | "log" | "readPosition" | "ownWrites" | "now">;

type Query = Omit<NotificationListOptions, "unreadOnly"> & { readonly unread: boolean };

const parameters: Parameters<Query> = {
  unread: flag(false),
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
  limit: whole(20, 1, 100),
};

/** Ended jobs, for the key that requested them: no other key sees them, not even one of the same tenant. */
export const notificationRoutes = (dependencies: Dependencies): readonly Route[] => [
  route<Query>({
    method: "GET",
    path: "/notifications",
    describes: {
      operation: "listNotifications",
      summary: "Ended jobs, for the key that requested them.",
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
];

async function list(
  { notifications, readPosition, ownWrites }: Dependencies,
  { context, query, minSequence, base }: ApiRequest<Query>,
): Promise<Answer> {
  const behind = await awaitMinSequence(readPosition, "notifications", minSequence);
  if (behind !== null) return behind;
  await caughtUp(readPosition, "notifications", ownWrites.ofTenant(context.tenant));
  const { unread: unreadOnly, ...page } = query;
  const found = await askReadModel(() => notifications.list(context.tenant, context.actor, { unreadOnly, ...page }));
  const data = found.notifications.map((notification) => toNotificationAnswer(notification, base));
  return json({ data, nextCursor: found.nextCursor }, readSequenceHeader(found.readSequence));
}

/**
 * The mark is a fact of the log, so that it outlives every rebuild; it needs no database. The first request sets the time,
 * and repetitions keep it. Of two concurrent requests the log keeps one event, because both have the same id.
 */
async function markRead(
  { ownWrites, now, ...ports }: Dependencies,
  { context, part, base, inTime }: ApiRequest,
): Promise<Answer> {
  const { log } = inTime(ports);
  const ref = toRunRef(context, part("id"));
  const found = ref && (await notificationFromLog(log, ref.job, ref.run, context.actor));
  if (!found) return refuse("notification-not-found", "There is no notification with this id.");
  const { notification, causeId, readSequence } = found;
  if (readSequence !== null) return answer(notification, base, readSequence);
  const event: NotificationEvent = { type: "NotificationRead", at: now(), data: { run: ref.run } };
  const id = `${ref.job.jobId}/${ref.run}/${event.type}`;
  const sequence = await log.record(ref.job, [{ ...toCause(context), causationId: causeId, id, event }]);
  ownWrites.remember(ref.job, sequence);
  const stored = await notificationFromLog(log, ref.job, ref.run, context.actor);
  return answer(stored?.notification ?? { ...notification, readAt: event.at }, base, sequence);
}

const answer = (notification: NotificationRecord, base: string, sequence: number): Answer =>
  json(toNotificationAnswer(notification, base), { "Event-Sequence": String(sequence) });
