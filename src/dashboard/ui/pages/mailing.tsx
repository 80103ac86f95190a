import { useEffect, useState } from "preact/hooks";
import { stopInWords } from "../../../domain/mailing/brakes.ts";
import type { MailingAnswer } from "../api/answers.ts";
import { get } from "../api/client.ts";
import { Bar, BarLegend } from "../parts/bar.tsx";
import { ProblemBox } from "../parts/messages.tsx";
import { Why } from "../parts/why.tsx";
import { percent } from "../reading/words.ts";
import { linkTo } from "../router.ts";
import { can } from "../session.ts";
import { useLoad } from "../use-load.ts";
import { actionsFor, type MailingAction, MailingActions } from "./mailing-actions.tsx";
import { MailingApproval } from "./mailing-approval.tsx";
import { MailingFacts } from "./mailing-facts.tsx";
import { MailingImport } from "./mailing-import.tsx";
import { MailingParts } from "./mailing-parts.tsx";
import { MailingUndo } from "./mailing-undo.tsx";
import { hasMailingEnded, nameOf } from "./mailing-words.ts";

/** Also after its end, as another user may retry it. */
const endedRefreshMs = 15_000;
const refreshMs = 3000;

/** One mailing, as of some seconds ago at most. */
export function Mailing({ mailingId }: { readonly mailingId: string }) {
  const [everyMs, setEveryMs] = useState(refreshMs);
  const path = `api/mailings/${encodeURIComponent(mailingId)}`;
  const loaded = useLoad(path, (signal) => get<MailingAnswer>(path, signal), everyMs);
  const [decided, setDecided] = useState<MailingAnswer | null>(null);
  const mailing = decided ?? loaded.value;
  // The next answer includes the decision.
  useEffect(() => setDecided(null), [loaded.value]);
  useEffect(() => {
    if (mailing !== null) setEveryMs(hasMailingEnded(mailing.status) ? endedRefreshMs : refreshMs);
  }, [mailing?.status]);

  if (mailing === null) return loaded.problem === null ? <p>Loading…</p> : <ProblemBox problem={loaded.problem} />;
  const onChanged = (changed: MailingAnswer): void => {
    setDecided(changed);
    loaded.reload();
  };
  const props = { mailing, onChanged };
  const actions = actionsFor(mailing);
  return (
    <>
      <p class="path">
        <a href={linkTo(["mailings"])}>Mailings</a> / <code>{mailing.id}</code>
      </p>
      <div class="title">
        <h1>{nameOf(mailing)}</h1>
        <MailingActions {...props} actions={actions.filter((action) => !isShownBelow(action, mailing))} />
      </div>
      {loaded.problem !== null && <ProblemBox problem={loaded.problem} />}
      {mailing.stoppedBy !== null && <Stopped {...props} />}
      <MailingUndo {...props} />
      {mailing.approval !== null && <MailingApproval {...props} />}
      <section class="box" aria-label="Progress of the mailing">
        <Bar counts={mailing.progress} />
        <BarLegend counts={mailing.progress} />
        <MailingFacts mailing={mailing} />
      </section>
      {!hasMailingEnded(mailing.status) && <Why path={path} status={mailing.status} />}
      {mailing.status === "draft" && can("jobs:write") && (
        <MailingImport mailingId={mailing.id} onImported={loaded.reload} />
      )}
      {mailing.parts > 0 && <MailingParts mailing={mailing} />}
    </>
  );
}

/** Beside what they are about. */
const isShownBelow = (action: MailingAction, { stoppedBy }: MailingAnswer): boolean =>
  action === "approve" || action === "reject" || (action === "resume" && stoppedBy !== null);

const limitOf = (
  { of }: NonNullable<MailingAnswer["stoppedBy"]>,
  { failureRate, bounceRate, complaintRate }: NonNullable<MailingAnswer["stopWhen"]>,
): number | null => (of === undefined ? failureRate : ((of === "bounces" ? bounceRate : complaintRate) ?? null));

type StoppedProps = { readonly mailing: MailingAnswer; readonly onChanged: (mailing: MailingAnswer) => void };

function Stopped({ mailing, onChanged }: StoppedProps) {
  const { stoppedBy, stopWhen } = mailing;
  if (stoppedBy === null) return null;
  const limit = stopWhen === null ? null : limitOf(stoppedBy, stopWhen);
  return (
    <div class="box problem" role="alert">
      <strong>This mailing stopped by itself</strong>
      <p>
        {stopInWords(stoppedBy).replace(/\.$/, "")}
        {limit !== null && `; it stops above ${percent(limit)}`}. Look at the cause before you resume it: from then on
        it counts anew.
      </p>
      <MailingActions
        mailing={mailing}
        onChanged={onChanged}
        actions={actionsFor(mailing).filter((action) => action === "resume")}
      />
    </div>
  );
}
