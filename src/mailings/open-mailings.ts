import { type EventLog, type JobRef, keyOf } from "../event-log/event-log.ts";
import { findMade, type OpenMailing, partsOf, readOpen, unread } from "./open-mailing.ts";

type Part = { readonly mailing: OpenMailing; readonly part: number };

/** The mailings that have not ended, as far as this process knows them, and the parts that they have. */
export function createOpenMailings(log: EventLog) {
  const open = new Map<string, OpenMailing>();
  const partOf = new Map<string, Part>();
  /** A report may be about a mailing that is still to be read. */
  const readings = new Set<Promise<void>>();
  let areRead: Promise<void> = Promise.resolve();

  return {
    names: (): readonly string[] => [...open.keys()],
    isEmpty: (): boolean => open.size === 0,
    find: (name: string): OpenMailing | undefined => open.get(name),
    isOpen: (mailing: OpenMailing): boolean => open.get(keyOf(mailing.ref)) === mailing,
    partOf: (job: JobRef): Part | undefined => partOf.get(keyOf(job)),
    clear: (): void => {
      open.clear();
      partOf.clear();
    },
    /** Takes a mailing up of which something is to be read. */
    hear: ({ tenant, jobId }: JobRef): { readonly mailing: OpenMailing; readonly wasRead: () => void } => {
      const ref = { tenant, jobId };
      const mailing = open.get(keyOf(ref)) ?? unread(ref);
      open.set(keyOf(ref), mailing);
      mailing.unheard += 1;
      let isRead = (): void => {};
      const reading = new Promise<void>((resolve) => {
        isRead = resolve;
      });
      readings.add(reading);
      const wasRead = (): void => {
        readings.delete(reading);
        isRead();
      };
      return { mailing, wasRead };
    },
    /** Resolves once all that was heard by now was read, in the order of the calls. */
    areRead: (): Promise<void> => {
      areRead = Promise.all([areRead, ...readings]).then(() => {});
      return areRead;
    },
    /** Reads the mailing, for the first time or again. Its parts are known once that is over. */
    read: async (mailing: OpenMailing): Promise<void> => {
      const { unheard } = mailing;
      await readOpen(log, mailing);
      for (const [part, { jobId }] of partsOf(mailing).entries()) {
        partOf.set(keyOf({ ...mailing.ref, jobId }), { mailing, part });
      }
      await findMade(log, mailing);
      mailing.unheard -= unheard;
    },
    forget: (mailing: OpenMailing): void => {
      open.delete(keyOf(mailing.ref));
      for (const { jobId } of partsOf(mailing)) partOf.delete(keyOf({ ...mailing.ref, jobId }));
    },
  };
}

export type OpenMailings = ReturnType<typeof createOpenMailings>;
