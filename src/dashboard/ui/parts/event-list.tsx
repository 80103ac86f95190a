import { eventInWords } from "../../../domain/event-in-words.ts";
import type { EventAnswer } from "../api/answers.ts";
import { linkTo } from "../router.ts";
import { Ago } from "./status.tsx";

type EventListProps = {
  readonly events: readonly (Omit<EventAnswer, "type"> & { readonly type: string })[];
  /** The selected event. Those that were stored together share a sequence. */
  readonly current?: Pick<EventAnswer, "sequence" | "index"> | null;
  readonly hasJobs?: boolean;
  /** A sentence for people about the event, by its sequence, where it needs more than the event to be told. */
  readonly sentences?: ReadonlyMap<number, string>;
};

/** A mailing and a schedule stand in the place of a job: `jobId` is theirs. */
const pageOf = (type: string): string =>
  type.startsWith("Mailing") ? "mailings" : type.startsWith("Schedule") ? "schedules" : "jobs";

const isAt = (event: Pick<EventAnswer, "sequence" | "index">, current: EventListProps["current"]): boolean =>
  event.sequence === current?.sequence && event.index === current.index;

/** Events as they were appended; each one opens to show its data. */
export const EventList = ({ events, current = null, hasJobs = false, sentences }: EventListProps) => (
  <ol class="events">
    {events.map((event) => (
      <li key={`${event.sequence}.${event.index}`} aria-current={isAt(event, current) ? "step" : undefined}>
        <details>
          <summary>
            <span class="sequence">{event.sequence}</span> <strong>{event.type}</strong> <Ago at={event.time} />{" "}
            <small>{event.actor}</small>
            <div>{sentences?.get(event.sequence) ?? eventInWords(event)}</div>
          </summary>
          {hasJobs && (
            <p>
              <a href={linkTo([pageOf(event.type), event.jobId])}>{event.jobId}</a>
            </p>
          )}
          <pre>{JSON.stringify(event.data, null, 2)}</pre>
        </details>
      </li>
    ))}
  </ol>
);
