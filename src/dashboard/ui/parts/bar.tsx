import type { RecipientCounts } from "../../../domain/job/events.ts";
import type { FeedbackCounts } from "../../../domain/recipients/feedback.ts";
import type { RecipientStatus } from "../../../domain/recipients/recipient-status.ts";
import { figure } from "../reading/words.ts";

/** Every status: without one of them the pieces would not add up. */
const recipientStatuses = Object.keys({
  sent: true,
  failed: true,
  suppressed: true,
  unknown: true,
  deferred: true,
  pending: true,
} satisfies Record<RecipientStatus, true>) as readonly RecipientStatus[];

/** Recipients by status. The pieces are the counts themselves, so they add up to the whole. */
export const Bar = ({ counts }: { readonly counts: RecipientCounts }) => (
  <div class="bar" role="img" aria-label={`${inWords(counts)} of ${figure(counts.total)}`}>
    {recipientStatuses.map((kind) =>
      counts[kind] === 0 ? null : <span key={kind} class={`piece ${kind}`} style={{ flexGrow: counts[kind] }} />,
    )}
  </div>
);

const inWords = (counts: RecipientCounts): string =>
  recipientStatuses
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${figure(counts[kind])} ${kind}`)
    .join(", ") || "none";

/** Nothing where no mail came back and no recipient complained. */
const CameBack = ({ bounced = 0, complained = 0 }: Partial<FeedbackCounts>) => (
  <>
    {bounced > 0 && <Report name="came back" count={bounced} />}
    {complained > 0 && <Report name="complained" count={complained} />}
  </>
);

const Report = ({ name, count }: { readonly name: string; readonly count: number }) => (
  <div>
    <dt>
      <span class="dot failed" /> of those sent, {name}
    </dt>
    <dd data-count={name}>{figure(count)}</dd>
  </div>
);

/** The same as figures, with their sum; and what came back of the mails that were sent. */
export const BarLegend = ({ counts }: { readonly counts: RecipientCounts & Partial<FeedbackCounts> }) => (
  <dl class="legend">
    {recipientStatuses.map((kind) => (
      <div key={kind}>
        <dt>
          <span class={`dot ${kind}`} /> {kind}
        </dt>
        <dd data-count={kind}>{figure(counts[kind])}</dd>
      </div>
    ))}
    <div class="sum">
      <dt>total</dt>
      <dd data-count="total">{figure(recipientStatuses.reduce((sum, kind) => sum + counts[kind], 0))}</dd>
    </div>
    <CameBack {...counts} />
  </dl>
);
