import type { AlertFigure, AlertName } from "../../../domain/alerts/events.ts";
import type { EventAnswer, FeedPage } from "../api/answers.ts";
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

/** What was read so far: it outlives a change of pages, so the log is read once. */
let position = "0";
let known: readonly AlertAnswer[] = [];
let raised: ReadonlyMap<AlertName, AlertAnswer> = new Map();

/** All tenants together, so it is the operator's to see; none for who is not. */
async function readAlerts(signal: AbortSignal): Promise<readonly AlertAnswer[]> {
  if (!can("admin")) return [];
  for (let hasMore = true; hasMore; ) {
    const query = { types: "AlertRaised,AlertCleared", after: position, limit: 1000 };
    const page = await get<FeedPage<AlertAnswer>>(withQuery("api/admin/events", query), signal);
    // Two that read at once come by the same events: they are taken over in one step, and once.
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

/** What is raised now; nothing where nothing is. */
export function RaisedAlerts() {
  const { value } = useLoad("alerts", readAlerts, refreshMs);
  return (
    <>
      {value?.map(({ sequence, time, data: { alert, value: figure, threshold, about } }) => (
        <p key={sequence} class="box problem" role="alert">
          <a href={linkTo(["system"])}>{alert}</a> {about} is at {figure ?? "?"}; it shall not be over{" "}
          {threshold ?? "?"}. <Ago at={time} />
        </p>
      ))}
    </>
  );
}

/** The newest of them, and how they ended. */
export function PastAlerts() {
  const { value, problem } = useLoad("alerts", readAlerts, refreshMs);
  return (
    <Section name="Alerts" problem={problem}>
      {value !== null && known.length === 0 && <p>None was ever raised.</p>}
      <EventList events={known} />
    </Section>
  );
}
