import type { MailingAnswer } from "../api/answers.ts";
import { Ago, Fact, Status } from "../parts/status.tsx";
import { between, counted, figure } from "../reading/words.ts";
import { linkTo } from "../router.ts";
import { brakesInWords } from "./mailing-words.ts";

const instants = [
  ["Created", "createdAt"],
  ["Scheduled", "scheduledAt"],
  ["Not after", "notAfter"],
  ["Started", "startedAt"],
  ["Ended", "completedAt"],
] as const;

export function MailingFacts({ mailing }: { readonly mailing: MailingAnswer }) {
  return (
    <dl class="facts">
      <Fact name="Status">
        <Status of={mailing.status} />
      </Fact>
      <Fact name="Parts made">
        {figure(mailing.partsMade)} of {figure(mailing.parts)}
      </Fact>
      <Fact name="Attempts">{mailing.maxAttempts} at most</Fact>
      <Fact name="Priority">{mailing.priority}</Fact>
      {brakesInWords(mailing).map(([name, words]) => (
        <Fact key={name} name={name}>
          {words}
        </Fact>
      ))}
      {instants.map(([name, field]) =>
        mailing[field] === null ? null : (
          <Fact key={field} name={name}>
            <Ago at={mailing[field]} />
          </Fact>
        ),
      )}
      {mailing.startedAt !== null && mailing.completedAt !== null && (
        <Fact name="Took">{between(mailing.startedAt, mailing.completedAt)}</Fact>
      )}
      {mailing.subject !== null && mailing.name !== null && <Fact name="Subject">{mailing.subject}</Fact>}
      {mailing.tests.map(({ jobId, recipients, testedAt }) => (
        <Fact key={jobId} name="Test">
          <a href={linkTo(["jobs", jobId])}>{counted(recipients, "address", "addresses")}</a> <Ago at={testedAt} />
        </Fact>
      ))}
      {Object.entries(mailing.metadata).map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
    </dl>
  );
}
