import type { AlertEvent, AlertFigure, AlertName } from "../../../domain/alerts/events.ts";
import { alertInWords, alertTitles, raisedInWords } from "../../../domain/alerts/words.ts";
import type { EventAnswer, EventPage, StatsAnswer } from "../api/answers.ts";
import { get, withQuery } from "../api/client.ts";
import { linkTo } from "../router.ts";
import { can } from "../session.ts";
import { useLoad } from "../use-load.ts";
import { EventList } from "./event-list.tsx";
import { Section } from "./section.tsx";
import { Ago } from "./status.tsx";

type AlertAnswer = Omit<EventAnswer, "type" | "data"> & {
  readonly type: "AlertRaised" | "AlertCleared";
  readonly data: AlertFigure;
};

const refreshMs = 10_000;
const keptEvents = 20;

/** The alerts read so far; they survive a change of pages, so that the log is read once. */
let position = "0";
let known: readonly AlertAnswer[] = [];
let raised: ReadonlyMap<AlertName, AlertAnswer> = new Map();

/** Alerts cover all tenants, so only an operator may see them; other keys get none. */
async function readAlerts(signal: AbortSignal): Promise<readonly AlertAnswer[]> {
  if (!can("admin")) return [];
  for (let hasMore = true; hasMore; ) {
    const query = { types: "AlertRaised,AlertCleared", after: position, limit: 1000 };
    const page = await get<Omit<EventPage, "data"> & { readonly data: readonly AlertAnswer[] }>(
      withQuery("api/admin/events", query),
      signal,
    );
    // Two concurrent reads may return the same events: each event is applied once, in one step.
    const news = page.data.filter(({ sequence }) => sequence > Number(position));
    const after = new Map(raised);
    for (const one of news) one.type === "AlertRaised" ? after.set(one.data.alert, one) : after.delete(one.data.alert);
    raised = after;
    known = [...news.toReversed(), ...known].slice(0, keptEvents);
    if (Number(page.nextCursor) > Number(position)) position = page.nextCursor;
    hasMore = page.hasMore;
  }
  return [...raised.values()];
}

/** The alerts raised now, with present figures; nothing where there are none. `stats` covers all tenants, as alerts do. */
export function RaisedAlerts({ stats }: { readonly stats: StatsAnswer | null }) {
  const { value } = useLoad("alerts", readAlerts, refreshMs);
  return (
    <>
      {value?.map(({ sequence, time, data }) => (
        <p key={sequence} class="box problem" role="alert">
          <a href={linkTo(["system"])}>{alertTitles[data.alert]}</a>: {raisedInWords(asOfNow(data, stats))} Since{" "}
          <Ago at={time} />
        </p>
      ))}
    </>
  );
}

/** Alerts on figures that the tiles count show the tiles' figures; the others keep those from when they were raised. */
function asOfNow(raised: AlertFigure, stats: StatsAnswer | null): AlertFigure {
  if (stats === null) return raised;
  switch (raised.alert) {
    case "failure-rate":
      return ofThisHour(raised, stats.failureRate?.mails ?? null);
    case "bounce-rate":
      return ofThisHour(raised, stats.bounceRate);
    case "complaint-rate":
      return ofThisHour(raised, stats.complaintRate);
    case "oldest-waiting": {
      const ages = Object.entries(stats.waiting).map(([about, lane]) => ({
        about,
        value: lane.oldestAgeSeconds ?? -1,
      }));
      return { ...raised, ...greatest(ages) };
    }
    case "projection-lag": {
      const lags = Object.entries(stats.projections).map(([about, lag]) => ({ about, value: lag.lagSeconds ?? -1 }));
      return { ...raised, ...greatest(lags) };
    }
    case "dead-letters":
    case "open-dead-letters":
    case "stopped-mailings":
      return raised;
  }
}

/** The statistics know the last hour only, and all mails together, not those of a receiver, a route or a sender. */
const ofThisHour = (raised: AlertFigure, value: number | null): AlertFigure =>
  raised.windowSeconds === 3600 && raised.about === null ? { ...raised, value: value ?? raised.value } : raised;

type Extreme = Pick<AlertFigure, "value" | "about">;

/** Nothing where there is no such figure now: the alert keeps the earlier one. */
function greatest(some: readonly { readonly value: number; readonly about: string }[]): Extreme | null {
  const known = some.filter(({ value }) => value >= 0);
  return known.length === 0 ? null : known.reduce((one, other) => (other.value > one.value ? other : one));
}

/** The newest alerts, and how they ended. */
export function PastAlerts() {
  const { value, problem } = useLoad("alerts", readAlerts, refreshMs);
  const sentences = new Map(known.map((event) => [event.sequence, alertInWords(toAlert(event))]));
  return (
    <Section name="Alerts" problem={problem}>
      {value !== null && known.length === 0 && <p>No alert was ever raised.</p>}
      <EventList events={known} sentences={sentences} />
    </Section>
  );
}

const toAlert = ({ type, time, data }: AlertAnswer): AlertEvent =>
  type === "AlertRaised" ? { type, at: time, data } : { type, at: time, data: { raisedSequence: 0, ...data } };
