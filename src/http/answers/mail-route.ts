import { Type } from "typebox";
import type { RouteState } from "../../domain/recipients/route-state.ts";
import { defaultRoute, type MailRoute } from "../../mail/routes/mail-route.ts";
import { hasPassword, withoutPassword } from "../../mail/routes/put-route.ts";
import type { WorkerState } from "../../workers/membership.ts";
import { type AnswerOf, count, named, ordinal, orNull, text } from "./parts.ts";

const decimal = Type.Number({ minimum: 0 });

const routeOfWorker = named("MailRouteOfWorker", {
  worker: text,
  breaker: Type.Enum(["closed", "half-open", "open"]),
  usable: Type.Boolean({ description: "Whether it would be given a mail now." }),
  inFlight: count,
  waiting: Type.Integer({ minimum: 0, description: "Mails that wait for their turn under the rate." }),
  share: orNull(decimal),
});

/** The password is never shown. */
export const mailRoute = named("MailRoute", {
  name: text,
  isDefault: Type.Boolean(),
  url: text,
  hasPassword: Type.Boolean(),
  connections: ordinal,
  rate: orNull(decimal),
  senders: orNull(Type.Array(text)),
  tenants: orNull(Type.Array(text)),
  order: count,
  weight: ordinal,
  state: Type.Enum(["usable", "partly", "away", "unknown"], {
    description:
      "Whether the workers can use it: all of them, some, or none; `unknown` where no worker answers that knows it.",
  }),
  counts: Type.Object(
    { sent: count, failed: count, deferred: count, unknown: count, unavailable: count },
    { description: "Mails by outcome, since the workers that answer opened the route." },
  ),
  workers: Type.Array(routeOfWorker),
});

export const mailRouteList = named("MailRouteList", {
  data: Type.Array(mailRoute),
  unreadable: Type.Array(named("UnreadableMailRoute", { name: text, reason: text }), {
    description: "Routes that the process which answers cannot decrypt or read: it does not use them.",
  }),
  nextCursor: Type.Null(),
});

export type MailRouteAnswer = AnswerOf<typeof mailRoute>;

type Seen = RouteState & { readonly worker: string };

export function toMailRouteAnswer(route: MailRoute, workers: readonly WorkerState[]): MailRouteAnswer {
  const seen: readonly Seen[] = workers.flatMap(({ name: worker, routes = [] }) =>
    routes.filter(({ name }) => name === route.name).map((state) => ({ worker, ...state })),
  );
  const { url, ...others } = route;
  return {
    ...others,
    url: withoutPassword(url),
    hasPassword: hasPassword(url),
    isDefault: route.name === defaultRoute,
    state: stateOf(seen),
    counts: sumOf(seen),
    workers: seen.map(({ worker, breaker, isUsable: usable, inFlight, waiting, share }) => {
      return { worker, breaker, usable, inFlight, waiting, share };
    }),
  };
}

function stateOf(seen: readonly Seen[]): MailRouteAnswer["state"] {
  if (seen.length === 0) return "unknown";
  const usable = seen.filter(({ isUsable }) => isUsable).length;
  if (usable === seen.length) return "usable";
  return usable === 0 ? "away" : "partly";
}

function sumOf(seen: readonly Seen[]): MailRouteAnswer["counts"] {
  const sum = { sent: 0, failed: 0, deferred: 0, unknown: 0, unavailable: 0 };
  for (const { counts } of seen) for (const kind of kinds) sum[kind] += counts[kind];
  return sum;
}

const kinds = ["sent", "failed", "deferred", "unknown", "unavailable"] as const;
