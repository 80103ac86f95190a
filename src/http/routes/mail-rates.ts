import type { MailRateQueries, MailRatesAsked } from "../../../projections/mail-rates/queries.ts";
import type { Instant } from "../../domain/message.ts";
import {
  type MailCounts,
  type MailGrouping,
  mailGroupings,
  noMails,
  shareOf,
} from "../../domain/recipients/mail-counts.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { mailRates } from "../answers/service.ts";
import { type Answer, json, refuseFaults } from "../server/answer.ts";
import { oneOf, optionalInstant, optionalText, type Parameters, whole } from "../server/query.ts";
import { type ApiRequest, route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const longestDays = 92;
const mostNames = 100;

type Query = {
  readonly by: MailGrouping;
  readonly name: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
  readonly limit: number;
};

const parameters: Parameters<Query> = {
  by: oneOf(mailGroupings, "receiver"),
  name: optionalText(255),
  from: optionalInstant,
  to: optionalInstant,
  limit: whole(20, 1, mostNames),
};

type Dependencies = Pick<RouteDependencies, "mailRates" | "readPosition" | "now">;

/** GET /stats/mail-rates: what became of the mails of a sender's domain, by a route, to a receiver. */
export const mailRatesRoute = (dependencies: Dependencies) =>
  route<Query>({
    method: "GET",
    path: "/stats/mail-rates",
    describes: {
      operation: "readMailRates",
      summary:
        "What mail servers answered and what came back, by the domain of the sender, the route or the receiver, with the most mails first; of one name hour by hour.",
      headers: ["Min-Sequence"],
      answers: {
        200: { is: "The last 24 hours, if no time is given.", json: mailRates, headers: ["Read-Sequence"] },
      },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: (request) => answer(request, dependencies),
  });

async function answer(
  { context, query, minSequence }: ApiRequest<Query>,
  { mailRates: queries, readPosition, now }: Dependencies,
): Promise<Answer> {
  const to = query.to ?? now();
  const from = query.from ?? new Date(Date.parse(to) - dayMs).toISOString();
  const spanMs = Date.parse(to) - Date.parse(from);
  if (spanMs <= 0 || spanMs > longestDays * dayMs) {
    const message = `from and to name no time that can be answered; expected from before to, and ${longestDays} days at most`;
    return refuseFaults([{ pointer: "?from", message }]);
  }
  const behind = await awaitMinSequence(readPosition, "mail-rates", minSequence);
  if (behind !== null) return behind;
  const { by: grouping, name, limit } = query;
  const found = await ask(queries, { tenant: context.tenant, grouping, from, to }, name, limit);
  const body: AnswerOf<typeof mailRates> = {
    by: grouping,
    from: new Date(Math.floor(Date.parse(from) / hourMs) * hourMs).toISOString(),
    to: new Date(to).toISOString(),
    rates: found.rates.map(({ name: ofRate, counts }) => ({ name: ofRate, ...counts, ...sharesOf(counts) })),
    points: found.points?.map(({ at, counts }) => ({ at, ...counts })) ?? null,
  };
  return json(body, readSequenceHeader(found.readSequence));
}

async function ask(queries: MailRateQueries, asked: MailRatesAsked, name: string | null, limit: number) {
  if (name === null) {
    return { ...(await askReadModel(() => queries.byName(asked, limit))), points: null };
  }
  const { readSequence, points } = await askReadModel(() => queries.overTime(asked, name));
  const counts = points.map((point) => point.counts).reduce(added, noMails);
  return { readSequence, points, rates: points.length === 0 ? [] : [{ name, counts }] };
}

const added = (one: MailCounts, other: MailCounts): MailCounts => ({
  sent: one.sent + other.sent,
  deferred: one.deferred + other.deferred,
  failed: one.failed + other.failed,
  bounced: one.bounced + other.bounced,
  complained: one.complained + other.complained,
});

const sharesOf = ({ sent, failed, bounced, complained }: MailCounts) => ({
  failureRate: shareOf(failed, sent + failed),
  bounceRate: shareOf(bounced, sent),
  complaintRate: shareOf(complained, sent),
});
