import type { Instant } from "../domain/message.ts";
import type { JobRef } from "../event-log/event-log.ts";

/** The jobs that are over, as a read model knows them. */
export interface EndedJobs {
  /** Some of those that ended before then and are still listed, of whatever tenant; at most `limit`. */
  before(time: Instant, limit: number): Promise<readonly JobRef[]>;

  /** Whether it comes as far as that decision in the time that a round may take. */
  include(sequence: number): Promise<boolean>;
}
