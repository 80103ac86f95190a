import type { EventAnswer } from "../api/answers.ts";
import { linkTo } from "../router.ts";
import { Ago } from "./status.tsx";

type EventListProps = {
  readonly events: readonly (Omit<EventAnswer, "type"> & { readonly type: string })[];
  /** The sequence of the selected event. */
  readonly current?: number | null;
  readonly hasJobs?: boolean;
  /** A sentence for people about the event, by its sequence. */
  readonly sentences?: ReadonlyMap<number, string>;
};

/** Events as they were appended; each one opens to show its data. */
export const EventList = ({ events, current = null, hasJobs = false, sentences }: EventListProps) => (
  <ol class="events">
    {events.map((event) => (
      <li key={event.sequence} aria-current={event.sequence === current ? "step" : undefined}>
        <details>
          <summary>
            <span class="sequence">{event.sequence}</span> <strong>{event.type}</strong> <Ago at={event.time} />{" "}
            <small>{event.actor}</small>
            {sentences?.has(event.sequence) && <div>{sentences.get(event.sequence)}</div>}
          </summary>
          {hasJobs && (
            <p>
              <a href={linkTo(["jobs", event.jobId])}>{event.jobId}</a>
            </p>
          )}
          <pre>{JSON.stringify(event.data, null, 2)}</pre>
        </details>
      </li>
    ))}
  </ol>
);
