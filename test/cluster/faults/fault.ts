import { setTimeout as pause } from "node:timers/promises";
import type { ClusterStage } from "./stage.ts";

/** Time, by the clock of `performance`, that no bound counts: too few nodes were there. */
export type Excused = { readonly from: number; readonly to: number };

export type ClusterFault = {
  readonly name: string;
  /** The `nats-server` of the nodes before it strikes, on a stage of its own; without it, on the stage of the others. */
  readonly begunOn?: string;
  /** How long all clients together may be without a 201 or a mail, in milliseconds, where NATS itself takes longer. */
  readonly boundMs?: number;
  /** Strikes, and returns when the last node is back; while it does, jobs go on being posted. */
  readonly strike: (stage: ClusterStage, seed: string) => Promise<Toll>;
};

export type Toll = {
  /** How often a worker's process was taken away. */
  readonly killedWorkers: number;
  readonly excused: readonly Excused[];
  /** Sentences about what this fault alone forbids. */
  readonly violations: readonly string[];
};

export const costsNothing: Toll = { killedWorkers: 0, excused: [], violations: [] };

/** How long a fault lasts: the one thing here that is a matter of time and not of something to wait for. */
export const lasting = (ms: number): Promise<void> => pause(ms);
