import type { MailingAnswer } from "../api/answers.ts";
import { Ago, Fact, Status } from "../parts/status.tsx";
import { can, me } from "../session.ts";
import { actionsFor, MailingActions } from "./mailing-actions.tsx";

type ApprovalProps = { readonly mailing: MailingAnswer; readonly onChanged: (mailing: MailingAnswer) => void };

/** Who asked for the start of what, and what was decided. */
export function MailingApproval({ mailing, onChanged }: ApprovalProps) {
  const { approval } = mailing;
  if (approval === null) return null;
  const actions = actionsFor(mailing).filter((action) => action === "approve" || action === "reject");
  const isOwn = approval.requestedBy === me.value?.actor;
  return (
    <section class="box" aria-label="Approval">
      <dl class="facts">
        <Fact name="Approval">
          <Status of={approval.status} />
        </Fact>
        <Fact name="Requested by">
          <code>{approval.requestedBy}</code> <Ago at={approval.requestedAt} />
        </Fact>
        {approval.scheduledAt !== null && (
          <Fact name="To start">
            <Ago at={approval.scheduledAt} />
          </Fact>
        )}
        {approval.decidedBy !== null && (
          <Fact name="Decided by">
            <code>{approval.decidedBy}</code> <Ago at={approval.decidedAt} />
          </Fact>
        )}
        {approval.reason !== null && <Fact name="Reason">{approval.reason}</Fact>}
        <Fact name="Digest">
          <code>{approval.digest}</code>
        </Fact>
      </dl>
      {approval.status === "requested" && isOwn && can("jobs:approve") && (
        <p>Another key must approve it: this one asked for the start.</p>
      )}
      <MailingActions mailing={mailing} actions={actions} onChanged={onChanged} />
    </section>
  );
}
