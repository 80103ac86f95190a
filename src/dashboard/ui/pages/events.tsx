import { useEffect, useRef, useState } from "preact/hooks";
import type { EventAnswer } from "../api/answers.ts";
import { isPassing, withQuery } from "../api/client.ts";
import { follow } from "../api/follow.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import type { Page } from "../page.ts";
import { EventList } from "../parts/event-list.tsx";
import { Seek, TimeField } from "../parts/field.tsx";
import { Foldable } from "../parts/foldable.tsx";
import { Empty, ProblemBox, tell } from "../parts/messages.tsx";
import { pause } from "../reading/pause.ts";
import { counted } from "../reading/words.ts";
import { changeQuery, place } from "../router.ts";
import { eventTypes, findEnd, findSequenceAt, pageAfter } from "./events-seek.ts";

export const eventsPage: Page = {
  path: "events",
  shortcut: "e",
  title: "Events",
  needs: ["events:read"],
  view: () => <Events />,
};

/** The newest events stay in the page; older ones need a seek. */
const keptEvents = 300;
const pageSize = 100;

/** The log: its end as it grows, or any part of it. Where the place names a sequence, the tail stands still. */
function Events() {
  const { query } = place.value;
  const types = query.get("types") ?? "";
  const after = query.get("after");
  const chosen = types.split(",").filter(Boolean);
  const toggle = (type: string): void => {
    const next = chosen.includes(type) ? chosen.filter((one) => one !== type) : [...chosen, type];
    changeQuery({ types: next.join(",") });
  };
  const search = useRef<AbortController>(undefined);
  // What is found late may not move a reader who has gone elsewhere meanwhile.
  useEffect(() => () => search.current?.abort(), [place.value]);
  const seekTo = async (local: string): Promise<void> => {
    search.current?.abort();
    search.current = new AbortController();
    const { signal } = search.current;
    if (local === "") return changeQuery({ after: null });
    try {
      const found = await findSequenceAt(new Date(local).toISOString(), signal);
      if (!signal.aborted) changeQuery({ after: String(found) });
    } catch (failure) {
      if (!signal.aborted) tell(`Not found: ${toProblem(failure).message}`);
    }
  };
  return (
    <>
      <div class="title">
        <h1>Events</h1>
        {after === null ? null : (
          <button type="button" class="primary" onClick={() => changeQuery({ after: null })}>
            Follow the end
          </button>
        )}
      </div>
      <Foldable title="Filters">
        <search class="filters">
          <Seek
            label="After sequence"
            value={after ?? ""}
            pattern="\d*"
            onSeek={(typed) => changeQuery({ after: typed })}
          />
          <TimeField label="From time" value="" onChange={(value) => void seekTo(value)} />
          <details>
            <summary>Types{chosen.length === 0 ? "" : `: ${chosen.join(", ")}`}</summary>
            <fieldset class="chips">
              <legend class="unseen">Types</legend>
              {eventTypes.map((type) => (
                <button key={type} type="button" aria-pressed={chosen.includes(type)} onClick={() => toggle(type)}>
                  {type}
                </button>
              ))}
            </fieldset>
          </details>
        </search>
      </Foldable>
      {after === null ? (
        <Tail key={types} types={types} />
      ) : (
        <Part key={`${types} ${after}`} types={types} after={Number(after)} />
      )}
    </>
  );
}

/** The newest on top, as they arrive. */
function Tail({ types }: { readonly types: string }) {
  const [events, setEvents] = useState<readonly EventAnswer[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isPaused, setPaused] = useState(false);
  const held = useRef<EventAnswer[]>([]);
  const paused = useRef(isPaused);
  paused.current = isPaused;

  useEffect(() => {
    const going = new AbortController();
    let isDue = false;
    const show = (): void => {
      isDue = false;
      if (paused.current) return;
      const newest = held.current.splice(0).reverse();
      setEvents((before) => [...newest, ...before].slice(0, keptEvents));
    };
    const onMessage = (_event: string, data: unknown): void => {
      held.current.push(data as EventAnswer);
      held.current.splice(0, held.current.length - keptEvents);
      if (!isDue) requestAnimationFrame(show);
      isDue = true;
    };
    const begin = async (): Promise<void> => {
      const end = await untilAnswered(() => findEnd(going.signal), setProblem, going.signal);
      const path = withQuery("api/events", { after: Math.max(0, end - pageSize), types });
      await follow(path, { onMessage, onTrouble: setProblem }, going.signal);
    };
    begin().catch((failure: unknown) => {
      if (!going.signal.aborted) setProblem(toProblem(failure));
    });
    return () => going.abort();
  }, [types]);

  const goOn = (): void => {
    setPaused(!isPaused);
    const newest = held.current.splice(0).reverse();
    setEvents((before) => [...newest, ...before].slice(0, keptEvents));
  };
  return (
    <>
      {problem !== null && <ProblemBox problem={problem} />}
      <div class="buttons">
        <button type="button" aria-pressed={isPaused} onClick={goOn}>
          {isPaused ? "Go on" : "Pause"}
        </button>
        <span class="quiet">Live, newest first.</span>
      </div>
      {events.length === 0 ? (
        <Empty
          title="No recent events."
          command={`curl -N -H 'Accept: text/event-stream' ${location.origin}/api/events`}
        />
      ) : (
        <EventList events={events} hasJobs />
      )}
    </>
  );
}

const retryMs = 3000;

/** Asks again while the service, or what it asks, is away for a while. */
async function untilAnswered<Answer>(
  ask: () => Promise<Answer>,
  onTrouble: (problem: Problem | null) => void,
  signal: AbortSignal,
): Promise<Answer> {
  for (;;) {
    try {
      const answer = await ask();
      onTrouble(null);
      return answer;
    } catch (failure) {
      if (!isPassing(failure)) throw failure;
      onTrouble(failure);
      await pause(Math.max(retryMs, failure.retryAfterMs ?? 0), signal);
    }
  }
}

/** A page of the log after a sequence, oldest first. */
function Part({ types, after }: { readonly types: string; readonly after: number }) {
  const [events, setEvents] = useState<readonly EventAnswer[]>([]);
  const [next, setNext] = useState<number | null>(after);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(true);
  const readOn = async (from: number, signal?: AbortSignal): Promise<void> => {
    setBusy(true);
    try {
      const page = await pageAfter(from, { types, limit: pageSize, signal });
      setEvents((before) => [...before, ...page.events].slice(-keptEvents));
      setNext(page.next);
    } catch (failure) {
      if (!signal?.aborted) setProblem(toProblem(failure));
    }
    setBusy(false);
  };
  // A new component is made for another place.
  useEffect(() => {
    const going = new AbortController();
    void readOn(after, going.signal);
    return () => going.abort();
  }, []);
  return (
    <>
      {problem !== null && <ProblemBox problem={problem} />}
      <EventList events={events} hasJobs />
      <div class="pager">
        <span>{counted(events.length, "event")}</span>
        <button type="button" disabled={next === null || isBusy} onClick={() => next !== null && void readOn(next)}>
          Read on
        </button>
      </div>
    </>
  );
}
