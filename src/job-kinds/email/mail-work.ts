import type { ContentStore } from "../../content/content-store.ts";
import type { BrokenMailer } from "../../mail/breaker.ts";
import { createCaution } from "../../mail/caution.ts";
import type { Pace } from "../../mail/pace.ts";
import type { SuppressionGuard } from "../../suppressions/suppression-guard.ts";
import type { Gate, JobWork, WorkerView } from "../../workers/job-work.ts";
import { createConnectionShares } from "./connection-shares.ts";
import { sendMailing } from "./serve-mailing.ts";

/**
 * While the mail server is away, and fewer turns than this wait, they are tried by their schedule, one after the other,
 * as mails are that a breaker counts: a lone job comes to an end that somebody hears of. A crowd waits untouched.
 */
const mostWaitingToTry = 5;

export type MailWorkDependencies = {
  readonly contentStore: ContentStore;
  readonly mailer: BrokenMailer;
  readonly pace: Pace;
  readonly mailFrom: string;
  readonly batchDelayMs: number;
  readonly suppressions: SuppressionGuard;
  readonly publicUrl: string | null;
};

/** Mailings, which are left waiting while the mail server is away. */
export function createMailWork({
  contentStore,
  mailer,
  pace,
  mailFrom,
  batchDelayMs,
  suppressions,
  publicUrl,
}: MailWorkDependencies): JobWork {
  let changed: () => void = () => {};
  const shares = createConnectionShares(mailer.connections);
  const caution = createCaution(mailer, () => changed());
  mailer.onChange(() => changed());

  const createGate = (worker: WorkerView): Gate => {
    changed = worker.wake;
    return {
      start: caution.start,
      stop: caution.stop,
      mayTake: async () => {
        if (mailer.state() !== "closed") return "mail-server-away";
        switch (caution.standing()) {
          case "unknown":
            return "mail-server-away";
          case "away":
            if (worker.busy() > 0) return 0;
            return (await worker.waiting()) < mostWaitingToTry ? 1 : "mail-server-away";
          case "lets-in":
            return worker.busy() === 0 ? 1 : 0;
          case "answers":
            return Number.POSITIVE_INFINITY;
        }
      },
    };
  };

  return {
    type: "email.send",
    gate: createGate,
    breaker: mailer.state,
    work: async (held, lease, books, { stopping }) => {
      // What is claimed for one beyond its share would only wait for the connections of another.
      const share = shares.join();
      try {
        return await sendMailing(held, lease, books, {
          contentStore,
          mailer: caution.mailer,
          pace,
          mailFrom,
          batchDelayMs,
          suppressions,
          publicUrl,
          share,
          stopping,
        });
      } finally {
        share.leave();
      }
    },
  };
}
