import { setTimeout as pause } from "node:timers/promises";
import type { AcceptedJob, LoadShape } from "./load.ts";
import type { Actor, Stage, StageOptions } from "./stage.ts";
import { repeatedForWorker } from "./staged-settings.ts";

export type Fault = {
  readonly name: string;
  /** Strikes and heals; while it does, mailings go on being posted. */
  readonly strike: (stage: Stage, cell: Cell) => Promise<Toll>;
  /** Instead of the steady load. */
  readonly load?: LoadShape;
  /** Instead of what is enough after faults of seconds. */
  readonly endWithinMs?: number;
  /** Instead of the stage of all others: one of its own, which ends with the cell. */
  readonly stage?: StageOptions;
  /** All that clients may be told besides success, where that is less than 503 and any kind of broken connection. */
  readonly mayTell?: readonly string[];
};

export type Cell = {
  readonly seed: string;
  /** One of the two workers, by the seed. */
  readonly victim: "worker" | "otherWorker";
  /** Mails that have arrived since the cell began. */
  readonly arrived: () => number;
  /** The mailings accepted in this cell so far. */
  readonly accepted: () => readonly AcceptedJob[];
  /** Adds a job that the fault itself has caused, and that is to end as those of the load do. */
  readonly adopt: (job: AcceptedJob) => void;
  /** How often clients were told this so far. */
  readonly told: (word: string) => number;
};

/** What a fault may cost: the mails of which nothing was written, where it takes away the process that knew of them. */
export type Toll = {
  readonly mayDouble: number;
  /** When it struck, for the table. */
  readonly struck?: string;
  /** Asked once everything has ended: sentences about what this fault alone forbids. */
  readonly alsoViolated?: () => readonly string[] | Promise<readonly string[]>;
};

export const costsNothing: Toll = { mayDouble: 0 };
export const unwrittenOfOneWorker: Toll = { mayDouble: repeatedForWorker };
export const unwrittenOfBothWorkers: Toll = { mayDouble: 2 * repeatedForWorker };

export const workers: readonly Actor[] = ["worker", "otherWorker"];

/** How long a fault lasts: the one thing here that is a matter of time and not of something to wait for. */
export const lasting = (ms: number): Promise<void> => pause(ms);
