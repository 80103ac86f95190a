import type { Scope } from "../../access/key-ring.ts";
import { beginOfLog, type Cursor, cursorText, lastWholeEntry } from "../../event-log/cursor.ts";
import { endOfLog } from "../../event-log/end-of-log.ts";
import { toEventAnswer } from "../../event-log/event-answer.ts";
import { type EventLog, serviceTenant } from "../../event-log/event-log.ts";
import { type FeedRequest, isPast } from "../../history/live/read-feed.ts";
import { type EventType, eventTypes } from "../../schemas/events.ts";
import { type Checked, type Fault, failed, passed } from "../../schemas/fault.ts";
import { eventPage } from "../answers/event.ts";
import { type Answer, json, refuseFaults, refuseForNow } from "../server/answer.ts";
import { optionalCursor, type Parameters, someOf, whole } from "../server/query.ts";
import { type ApiRequest, type Describes, type Route, route } from "../server/route.ts";
import {
  eventStreamType,
  lastEventIdFault,
  ndjsonType,
  openStream,
  readLastEventId,
  streaming,
  streamingWhole,
} from "../streaming/event-stream.ts";
import { asLines, asServerSentEvents, begun, lookMs, readFeedPage, tellFeed } from "../streaming/feed.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type FeedQuery = {
  readonly after: Cursor | null;
  readonly limit: number | null;
  readonly types: readonly EventType[];
  readonly wait: number | null;
};

const defaultLimit = 100;
const maxLimit = 1000;
const maxWaitSeconds = 60;

const parameters: Parameters<FeedQuery> = {
  after: optionalCursor,
  limit: whole(null, 1, maxLimit),
  types: someOf(eventTypes),
  wait: whole(null, 0, maxWaitSeconds),
};

/**
 * GET /events: all events of a tenant, in the order of the log and from the log alone. Either one page by cursor in JSON,
 * or a feed that goes on: lines of JSON, or Server-Sent Events. GET /admin/events: the same for the events of the service
 * as a whole, which concern all tenants.
 */
export const eventFeedRoutes = (dependencies: Dependencies): readonly Route[] => [
  feedRoute(dependencies, "/events", tenantsFeed, "events:read", ({ context }) => context.tenant),
  feedRoute(dependencies, "/admin/events", servicesFeed, "admin", () => serviceTenant),
];

type Dependencies = Pick<RouteDependencies, "live" | "log">;

const tenantsFeed = { operation: "readEvents", summary: "All events of the tenant, in order." };
const servicesFeed = { operation: "readServiceEvents", summary: "The events of the service as a whole, in order." };

const feedRoute = (
  { live, log }: Dependencies,
  path: string,
  names: Pick<Describes, "operation" | "summary">,
  scope: Scope,
  tenantOf: (request: ApiRequest<FeedQuery>) => string,
): Route =>
  route<FeedQuery>({
    method: "GET",
    path,
    describes: {
      ...names,
      headers: ["Last-Event-ID"],
      answers: { 200: { is: "A page in JSON, or a continuous feed of events.", json: eventPage } },
      needs: ["log", "streams"],
      problems: ["too-many-past-readers"],
    },
    query: parameters,
    scope,
    offers: ["application/json", ndjsonType, eventStreamType],
    handle: async (request) => {
      const begin = await readBegin(log, request);
      if (!begin.valid) return refuseFaults(begin.faults);
      const stream = openStream(live, request);
      if (!stream.opened) return stream.answer;
      const { after, lastSequence } = begin.value;
      const tenant = tenantOf(request);
      const past = live.past.reader(tenant, stream.signal);
      if (isPast(lastWholeEntry(after), lastSequence) && !(await past.comeIn())) return refuseReader();
      const feed = { tenant, after, types: request.query.types, past };
      return await answerFeed(live, request, feed, stream.signal);
    },
  });

const refuseReader = (): Answer =>
  refuseForNow(
    "too-many-past-readers",
    "Other clients of this tenant are reading older events, and readers take turns. Try again.",
    5,
  );

type Begin = { readonly after: Cursor; readonly lastSequence: number };

/** A client that reconnects sends its position in a header, as browsers do; its URL still names where it first began. */
async function readBegin(log: EventLog, { query, header }: ApiRequest<FeedQuery>): Promise<Checked<Begin>> {
  const lastEventId = readLastEventId(header("Last-Event-ID"));
  if (!lastEventId.valid) return lastEventId;
  const after = lastEventId.value ?? query.after ?? beginOfLog;
  const lastSequence = await endOfLog(log, after.sequence);
  if (after.sequence <= lastSequence) return passed({ after, lastSequence });
  const sentence = `is ${cursorText(after)}; the log ends with ${lastSequence}`;
  const ofQuery: Fault = { pointer: "?after", message: `after ${sentence}` };
  return failed([lastEventId.value === null ? ofQuery : lastEventIdFault(sentence)]);
}

async function answerFeed(
  live: RouteDependencies["live"],
  { accepted, query: { limit, wait } }: ApiRequest<FeedQuery>,
  asked: FeedRequest,
  signal: AbortSignal,
): Promise<Answer> {
  if (accepted !== ndjsonType && accepted !== eventStreamType) {
    const options = { limit: limit ?? defaultLimit, waitMs: (wait ?? 0) * 1000 };
    const answerPage = async (): Promise<Answer> => {
      const { events, next, hasMore } = await readFeedPage(live, asked, options, signal);
      return json({ data: events.map(toEventAnswer), nextCursor: cursorText(next), hasMore });
    };
    return wait === null ? await answerPage() : { ...json(null), later: answerPage };
  }
  const waitMs = wait === null ? null : wait * 1000;
  const steps = await begun(live.feed(asked, signal, Math.min(lookMs, waitMs ?? lookMs)), signal);
  const form = accepted === ndjsonType ? asLines : asServerSentEvents;
  const isEndless = limit === null && waitMs === null;
  const chunks = tellFeed(steps, form, { limit, waitMs }, signal);
  return (isEndless ? streaming : streamingWhole)(accepted, chunks, signal);
}
