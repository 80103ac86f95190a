import { handleMailingCommand } from "../commands/handle-command.ts";
import { foldMailing, type MailingVersion } from "../commands/read-version.ts";
import type { ContentStore, JobContent } from "../content/content-store.ts";
import { digestOf, encodeContent } from "../content/encode-content.ts";
import { mailingDecider } from "../domain/mailing/decider.ts";
import type { MailingPart } from "../domain/mailing/events.ts";
import type { MailingRejection } from "../domain/mailing/state.ts";
import type { Instant } from "../domain/message.ts";
import { Unavailable } from "../domain/unavailable.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import { LogFull, VersionConflict } from "../event-log/log-failures.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import { newId } from "../event-log/new-id.ts";
import { persistently } from "../event-log/persistently.ts";

export type ImportPorts = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly room: LogRoom;
  readonly now: () => Instant;
};

/** The parts that one event names: their contents, of a megabyte at most, are stored at the same time. */
const partsAtOnce = 8;
const patienceMs = 30_000;

/** Ends an import that may not go on. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly outcome:
    | { readonly outcome: "rejected"; readonly rejection: MailingRejection }
    /** Another import has decided something meanwhile. */
    | { readonly outcome: "conflict" };

  constructor(outcome: Refused["outcome"]) {
    super("The import cannot go on.");
    this.outcome = outcome;
  }
}

type Decisions = Awaited<ReturnType<EventLog["readMailing"]>>;

const rejectedFor = (rejection: MailingRejection) => new Refused({ outcome: "rejected", rejection });

/** A client that has sent half of its file does not want to begin again because NATS has restarted. */
const patiently = <Result>(step: () => Promise<Result>): Promise<Result> =>
  persistently(AbortSignal.timeout(patienceMs), step, (failure) => failure instanceof Unavailable);

/** Contents are no more use than the decision about them, and take room that the outcomes of jobs need. */
export async function expectRoom(room: LogRoom): Promise<void> {
  if (!(await room.isLeftForJobs())) throw new LogFull("There is no room for more recipients.");
}

/** Stores parts, some at a time, and then decides that they belong to the mailing. */
export function createPartAdding(
  { log, contentStore, room, now }: ImportPorts,
  mailing: JobRef,
  from: MailingVersion,
  cause: Cause,
) {
  let version = from;
  let pending: { readonly part: MailingPart; readonly storing: Promise<unknown> }[] = [];

  /**
   * Whether the parts were added, in spite of an answer that was lost or is about another one's decision. Then the import
   * goes on from that decision and not from a later one: another import may have added the same addresses since.
   */
  const areAdded = (decisions: Decisions, parts: readonly MailingPart[]): boolean => {
    const last = parts.at(-1)?.jobId;
    const found = decisions.findIndex(
      ({ event }) => event.type === "MailingPartsAdded" && event.data.parts.some(({ jobId }) => jobId === last),
    );
    if (found >= 0) version = foldMailing(decisions.slice(0, found + 1));
    return found >= 0;
  };
  /** A test changes nothing of what an import has found. */
  const wasOnlyTested = (decisions: Decisions): boolean => {
    const news = decisions.filter(({ sequence }) => sequence > version.sequence);
    const isHarmless = news.length > 0 && news.every(({ event }) => event.type === "MailingTested");
    if (isHarmless) version = foldMailing(decisions);
    return isHarmless;
  };
  const decide = async (parts: readonly MailingPart[]): Promise<void> => {
    const command = { type: "AddParts", at: now(), parts } as const;
    try {
      const outcome = await handleMailingCommand(log, mailing, command, cause, { from: version, maxConflicts: 0 });
      if (outcome.outcome === "rejected") throw rejectedFor(outcome.rejection);
      version = outcome;
    } catch (failure) {
      if (!(failure instanceof VersionConflict)) throw failure;
      const decisions = await log.readMailing(mailing);
      if (areAdded(decisions, parts)) return;
      if (wasOnlyTested(decisions)) return await decide(parts);
      const decision = mailingDecider.decide(command, foldMailing(decisions).state);
      throw decision.outcome === "rejected" ? rejectedFor(decision.rejection) : new Refused({ outcome: "conflict" });
    }
  };
  const commit = async (): Promise<void> => {
    const parts = pending.map(({ part }) => part);
    if (parts.length === 0) return;
    await Promise.all(pending.map(({ storing }) => storing));
    pending = [];
    let mayBeAdded = false;
    try {
      await patiently(async () => {
        await expectRoom(room);
        mayBeAdded = true;
        await decide(parts);
      });
    } catch (failure) {
      // An answer may have been lost: then the sweeper finds out.
      if (mayBeAdded && !(failure instanceof Refused)) throw failure;
      // They were not added, and never will be: no other import knows their ids.
      await Promise.all(parts.map(({ jobId }) => contentStore.erase({ ...mailing, jobId })));
      throw failure;
    }
  };

  return {
    add: async (content: JobContent): Promise<void> => {
      const bytes = encodeContent(content);
      // The id is of this attempt alone: what another one left behind is not taken for it.
      const jobId = newId();
      const storing = patiently(() => contentStore.put({ ...mailing, jobId }, bytes));
      // Reported once it is waited for.
      storing.catch(() => {});
      pending.push({ part: { jobId, recipients: content.recipients.length, contentSha256: digestOf(bytes) }, storing });
      if (pending.length === partsAtOnce) await commit();
    },
    end: commit,
    /** Erases what was stored and is not decided about: the import has broken off. What this leaves, the sweeper finds a day later. */
    giveUp: async (): Promise<void> => {
      const erasing = pending.map(async ({ part: { jobId }, storing }) => {
        await storing.catch(() => {});
        await contentStore.erase({ ...mailing, jobId });
      });
      pending = [];
      await Promise.allSettled(erasing);
    },
    /** With the parts that it has added so far. */
    version: (): MailingVersion => version,
  };
}
