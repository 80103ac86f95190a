import type { JobType } from "../domain/job/events.ts";
import { type JobRef, keyOf } from "../event-log/event-log.ts";
import type { HelpWanted } from "./help.ts";
import { type HelpDependencies, helpWith } from "./help-with.ts";
import type { WorkOfWorker } from "./lease.ts";

/** What a helper asks about its own worker. */
export type OwnWorker = {
  /** Whether the worker has room for another turn, and none waits for it. */
  readonly hasRoom: () => boolean;
  /** Whether the worker has a turn of the job. */
  readonly holds: (job: JobRef) => boolean;
  /** Whether recipients can be served at all now. Throws Unavailable. */
  readonly mayServe: () => Promise<boolean>;
  readonly helpBrokeOff: (failure: unknown, job: JobRef) => void;
};

export type Helper = {
  start(): void;
  /** Ends sends in progress and gives the other recipients back; gives up after `withinMs` on what is not yet recorded. */
  stop(withinMs: number): Promise<void>;
  isHelping(about: WorkOfWorker): boolean;
  /** How many jobs it helps with. */
  helping(): number;
};

/** While the last mails of one job are on their way, the connections that are free serve another one. */
const mostHelps = 2;

/** Helps other workers with their jobs while its own worker has nothing to do. */
export function createHelper(
  type: JobType,
  dependencies: Omit<HelpDependencies, "stopping" | "giveUp" | "id">,
  own: OwnWorker,
): Helper {
  const { worker, exchange, connections } = dependencies;
  /** By job. */
  const helps = new Map<string, { readonly id: string; readonly done: Promise<void> }>();
  const stopping = new AbortController();
  const giveUp = new AbortController();
  let begun = 0;
  let stopListening: () => void = () => {};

  const mayHelp = ({ worker: holder, ...job }: HelpWanted): boolean =>
    holder !== worker &&
    !stopping.signal.aborted &&
    helps.size < mostHelps &&
    !helps.has(keyOf(job)) &&
    !own.holds(job) &&
    own.hasRoom() &&
    connections.free() > 0 &&
    !connections.areWanted();
  const help = async (wanted: HelpWanted, id: string): Promise<void> => {
    if (!(await own.mayServe())) return;
    await helpWith(wanted, { ...dependencies, id, stopping: stopping.signal, giveUp: giveUp.signal });
  };
  const begin = (wanted: HelpWanted): void => {
    const key = keyOf(wanted);
    begun += 1;
    const id = `${worker}.${begun}`;
    const done = help(wanted, id)
      .catch((failure: unknown) => own.helpBrokeOff(failure, wanted))
      .finally(() => helps.delete(key));
    helps.set(key, { id, done });
  };

  return {
    start: () => {
      stopListening = exchange.onAnnounced(type, (wanted) => {
        if (mayHelp(wanted)) begin(wanted);
      });
    },
    stop: async (withinMs) => {
      stopListening();
      stopping.abort();
      const deadline = setTimeout(() => giveUp.abort(), withinMs);
      await Promise.all([...helps.values()].map(({ done }) => done));
      clearTimeout(deadline);
    },
    helping: () => helps.size,
    isHelping: ({ help: id, ...job }) => {
      const helping = helps.get(keyOf(job));
      return helping !== undefined && (id === undefined || id === helping.id);
    },
  };
}
