import { useEffect, useRef, useState } from "preact/hooks";
import type { MailingAnswer } from "../api/answers.ts";
import { get, withQuery } from "../api/client.ts";
import { Section } from "../parts/section.tsx";
import {
  type Cell,
  countParts,
  createPartList,
  type LoadPage,
  type MadePart,
  type PartCounts,
  partStates,
  toCells,
} from "../reading/part-list.ts";
import { figure } from "../reading/words.ts";
import { linkTo } from "../router.ts";
import { useLoad } from "../use-load.ts";
import { hasMailingEnded } from "./mailing-words.ts";

const openRefreshMs = 3000;
const endedRefreshMs = 30_000;
/** Between the refreshes that read the parts for the first time. */
const nextPagesMs = 50;
const mostCells = 400;

const none: { readonly parts: readonly MadePart[]; readonly isWhole: boolean } = { parts: [], isWhole: true };

const loadParts =
  (mailingId: string): LoadPage =>
  (cursor, signal) =>
    get(withQuery("api/jobs", { mailing: mailingId, order: "asc", pageSize: 100, cursor }), signal);

/** The parts of a mailing in their order, each in the colour of its state and with a link to its job. */
export function MailingParts({ mailing }: { readonly mailing: MailingAnswer }) {
  const { id, status, parts, partsMade } = mailing;
  const isOpen = !hasMailingEnded(status);
  const list = useRef(createPartList(loadParts(id)));
  const [isWhole, setWhole] = useState(true);
  const load = (signal: AbortSignal) =>
    partsMade === 0 ? Promise.resolve(none) : list.current.refresh(isOpen, signal);
  const everyMs = !isWhole ? nextPagesMs : isOpen ? openRefreshMs : endedRefreshMs;
  const { value, problem } = useLoad(`parts of ${id}`, load, everyMs);
  useEffect(() => {
    if (value !== null) setWhole(value.isWhole);
  }, [value]);
  const made = value?.parts ?? [];
  return (
    <Section name="Parts" problem={problem}>
      <Legend counts={countParts(made, parts)} />
      <Strip cells={toCells(made, parts, mostCells)} />
      {parts > mostCells && (
        <p class="quiet">
          Each cell holds {figure(Math.ceil(parts / mostCells))} parts, and has the colour of the one to look at first.
        </p>
      )}
    </Section>
  );
}

const classOf = (state: string): string => state.replace(" ", "-");

const Legend = ({ counts }: { readonly counts: PartCounts }) => (
  <dl class="legend">
    {partStates.toReversed().map((state) => (
      <div key={state}>
        <dt>
          <span class={`dot part-${classOf(state)}`} /> {state}
        </dt>
        <dd data-parts={state}>{figure(counts[state])}</dd>
      </div>
    ))}
  </dl>
);

/** One stop of the tab key, however many cells there are: the arrow keys go from link to link. */
function Strip({ cells }: { readonly cells: readonly Cell[] }) {
  const strip = useRef<HTMLOListElement>(null);
  const [stop, setStop] = useState(0);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const links = [...(strip.current?.querySelectorAll("a") ?? [])];
    const next = links[links.indexOf(event.target as HTMLAnchorElement) + step];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <ol ref={strip} class="strip" onKeyDown={move}>
      {cells.map((cell, index) => (
        <li key={cell.first} class={`part-${classOf(cell.state)}`} title={inWords(cell)}>
          {cell.jobId === null ? (
            <span class="unseen">{inWords(cell)}</span>
          ) : (
            <a href={linkTo(["jobs", cell.jobId])} tabIndex={index === stop ? 0 : -1} onFocus={() => setStop(index)}>
              <span class="unseen">{inWords(cell)}</span>
            </a>
          )}
        </li>
      ))}
    </ol>
  );
}

function inWords({ first, last, state, counts }: Cell): string {
  if (first === last) return `Part ${figure(first)}: ${state}`;
  const words = partStates.filter((one) => counts[one] > 0).map((one) => `${figure(counts[one])} ${one}`);
  return `Parts ${figure(first)} to ${figure(last)}: ${words.join(", ")}`;
}
