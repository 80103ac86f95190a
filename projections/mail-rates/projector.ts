import type { Knex } from "knex";
import { addRows, deleteBefore } from "../../src/database/write-rows.ts";
import type { Instant } from "../../src/domain/message.ts";
import { mailCounts } from "../../src/domain/recipients/mail-counts.ts";
import { idsOf, inPortions, loadRows, type RowsOfBatch, readContents } from "../batch.ts";
import type { ProjectionTarget, Projector, Suffix } from "../projector.ts";
import {
  type Counted,
  countedTypes,
  countOf,
  createTally,
  defaultName,
  hourOf,
  type MailsOfJob,
  type MailTally,
  mailsOf,
  type NamedInHour,
  startOf,
} from "./count-mails.ts";
import { type MailRateRow, mailRateTableDefinitions, mailRateTables, type RoutesRow } from "./rows.ts";

/** What mail servers answered and what came back, by hour, for each domain of a sender, each route and each receiver. */
export const mailRatesProjector: Projector<Counted["event"]> = {
  name: "mail-rates",
  version: 1,
  tables: mailRateTableDefinitions,
  // Sender and receiver are content: a rebuild does not count the jobs whose content was erased since.
  notCompared: Object.keys(mailRateTableDefinitions),
  views: {},
  handles: countedTypes,
  project,
};

const dayMs = 86_400_000;
/** For so long the counts are kept, and for so long what comes back is counted for its route. */
export const keptMs = 92 * dayMs;

async function project(events: readonly Counted[], target: ProjectionTarget): Promise<void> {
  const { transaction, suffix } = target;
  const tables = mailRateTables(suffix);
  const mails = await readMails(events, target);
  const counted = events.filter(({ jobId }) => mails.has(jobId));
  if (counted.length === 0) return;
  const noted = idsOf(counted.filter(needsRoutes), ({ jobId }) => jobId);
  const routes = noteRoutes(await loadRows<RoutesRow>(transaction, tables.routes, ["job_id"], noted));
  const tally = createTally(await knownNames(transaction, suffix, counted));
  for (const stored of counted) count(stored, mails.get(stored.jobId) as MailsOfJob, routes, tally);
  await routes.write();
  await addRows<MailRateRow>(transaction, {
    table: tables.rates,
    columns: ["tenant", "hour", "counted_by", "name", ...mailCounts],
    summed: mailCounts,
    rows: tally.rows(),
  });
  await dropOld(transaction, suffix, counted);
}

async function readMails(
  events: readonly Counted[],
  target: ProjectionTarget,
): Promise<ReadonlyMap<string, MailsOfJob>> {
  const jobs = [...new Map(events.map((stored) => [stored.jobId, stored])).values()];
  const mails = new Map<string, MailsOfJob>();
  for await (const { job, content } of readContents(jobs, target)) {
    const ofJob = content === null ? null : mailsOf(content);
    if (ofJob !== null) mails.set(job.jobId, ofJob);
  }
  return mails;
}

async function knownNames(transaction: Knex.Transaction, suffix: Suffix, events: readonly Counted[]) {
  const tenants = idsOf(events, ({ tenant }) => tenant);
  const hours = idsOf(events, ({ event }) => hourOf(event.at)).map(startOf);
  const known: NamedInHour[] = [];
  for (const some of inPortions(tenants)) {
    for (const few of inPortions(hours)) {
      known.push(
        ...(await transaction(mailRateTables(suffix).rates)
          .whereIn("tenant", [...some])
          .whereIn("hour", [...few])
          .select("tenant", "hour", "counted_by", "name")),
      );
    }
  }
  return known;
}

const isReport = ({ event }: Counted): boolean =>
  event.type === "RecipientBounced" || event.type === "RecipientComplained";

/** A mail by the default route has no row, and neither needs one. */
const needsRoutes = (stored: Counted): boolean => isReport(stored) || "route" in stored.event.data;

function count(stored: Counted, mails: MailsOfJob, routes: NotedRoutes, tally: MailTally): void {
  const what = countOf(stored);
  if (what === null) return;
  const receiver = mails.receiverOf(stored.event.data.recipient);
  const ofHour = tally.of(stored.tenant, hourOf(stored.event.at));
  ofHour.add("sender", mails.sender, what);
  ofHour.add("route", routeOf(stored, routes), what);
  if (receiver !== null) ofHour.add("receiver", receiver, what);
}

/** The route of a mail; of one that was sent it is noted, for what may come back. */
function routeOf({ event, jobId }: Counted, routes: NotedRoutes): string {
  const { recipient } = event.data;
  if (event.type === "RecipientBounced" || event.type === "RecipientComplained") {
    return routes.of(jobId).get(recipient) ?? defaultName;
  }
  const { route = defaultName } = event.data;
  if (event.type === "RecipientSent" && route !== defaultName) routes.note(jobId, recipient, route, event.at);
  return route;
}

type NotedRoutes = {
  of(jobId: string): ReadonlyMap<number, string>;
  note(jobId: string, recipient: number, route: string, at: Instant): void;
  write(): Promise<void>;
};

/** Read and written as a whole for each job: a batch has hundreds of mails of one. */
function noteRoutes(rows: RowsOfBatch<RoutesRow>): NotedRoutes {
  const known = new Map<string, Map<number, string>>();
  const changed = new Map<string, Instant>();
  const of = (jobId: string): Map<number, string> => {
    const before = known.get(jobId);
    if (before !== undefined) return before;
    const row = rows.find(jobId);
    const routes = new Map(row === undefined ? [] : (JSON.parse(row.routes) as readonly (readonly [number, string])[]));
    known.set(jobId, routes);
    return routes;
  };
  return {
    of,
    note: (jobId, recipient, route, at) => {
      of(jobId).set(recipient, route);
      changed.set(jobId, at);
    },
    write: async () => {
      for (const [jobId, at] of changed) {
        rows.put({ job_id: jobId, last_sent_at: new Date(at), routes: JSON.stringify([...of(jobId)]) });
      }
      await rows.write();
    },
  };
}

/** By the times of events and not by a clock, unless that of another host is ahead; once an hour. */
async function dropOld(transaction: Knex.Transaction, suffix: Suffix, events: readonly Counted[]): Promise<void> {
  const inFirstMinute = events.map(({ event }) => event.at).filter((at) => at.slice(14, 16) === "00");
  const last = inFirstMinute.toSorted().at(-1);
  if (last === undefined) return;
  const { rates, routes } = mailRateTables(suffix);
  const before = new Date(Math.min(Date.parse(last), Date.now()) - keptMs);
  await deleteBefore(transaction, rates, "hour", before);
  await deleteBefore(transaction, routes, "last_sent_at", before);
}
