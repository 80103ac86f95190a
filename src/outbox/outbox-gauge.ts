export type Backlog = {
  /** Rows that wait to become a job, counted up to 100,000. */
  readonly rows: number;
  /** How long ago the one of them was written that has waited longest; 0 where none waits. */
  readonly oldestAgeSeconds: number;
};

/** How far the relays are behind the applications, for whoever watches them. */
export interface OutboxGauge {
  backlog(): Promise<Backlog>;
}
