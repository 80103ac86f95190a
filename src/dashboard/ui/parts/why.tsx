import type { ExplanationAnswer } from "../api/answers.ts";
import { get } from "../api/client.ts";
import { useLoad } from "../use-load.ts";
import { Section } from "./section.tsx";
import { Ago, Fact } from "./status.tsx";

const refreshMs = 5000;

type WhyProps = {
  /** Where the job or the mailing is in the API. */
  readonly path: string;
  /** As the page shows it: another one is another question, which is asked at once. */
  readonly status: string;
};

/** Why something is where it is, the nearest reason first: for what has not ended. */
export function Why({ path, status }: WhyProps) {
  const explain = (signal: AbortSignal) => get<ExplanationAnswer>(`${path}/explain`, signal);
  const { value, problem } = useLoad(`${path} ${status}`, explain, refreshMs);
  return (
    <Section name="Why is it here?" problem={problem}>
      {value === null && problem === null && <p>Loading…</p>}
      {value !== null && <Reasons {...value} />}
    </Section>
  );
}

const Reasons = ({ reasons, notKnown }: ExplanationAnswer) => (
  <>
    <ol class="reasons">
      {reasons.map(({ code, message, since, until, changedBy }) => (
        <li key={code}>
          {message}
          <dl class="facts">
            {since !== null && (
              <Fact name="Since">
                <Ago at={since} />
              </Fact>
            )}
            {until !== null && (
              <Fact name="Until">
                <Ago at={until} />
              </Fact>
            )}
            {changedBy !== null && <Fact name="What would change it">{changedBy}</Fact>}
          </dl>
        </li>
      ))}
    </ol>
    {notKnown.length > 0 && (
      <p class="quiet">Not to be found out now: {notKnown.map((fact) => unknownFacts[fact]).join(", ")}.</p>
    )}
  </>
);

const unknownFacts: Readonly<Record<ExplanationAnswer["notKnown"][number], string>> = {
  workers: "what the workers do",
  group: "which job of its group goes first",
  "jobs-ahead": "how many jobs go first",
  receivers: "which of its receivers are slow",
  parts: "which of its parts are jobs",
};
