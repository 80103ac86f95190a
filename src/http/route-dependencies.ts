import type { Logger } from "pino";
import type { DeadLetterQueries } from "../../projections/dead-letters/queries.ts";
import type { JobQueries } from "../../projections/jobs/queries.ts";
import type { LogQueries } from "../../projections/logs/queries.ts";
import type { ReadPositions } from "../../projections/read-position.ts";
import type { ContentStore } from "../content/content-store.ts";
import type { Instant } from "../domain/message.ts";
import type { EventLog } from "../event-log/event-log.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import type { OwnWrites } from "./own-writes.ts";

/** What routes about jobs work with. */
export type RouteDependencies = {
  readonly log: EventLog;
  readonly room: LogRoom;
  readonly contentStore: ContentStore;
  readonly jobs: JobQueries;
  readonly logs: LogQueries;
  readonly deadLetters: DeadLetterQueries;
  readonly readPosition: Pick<ReadPositions, "waitFor">;
  readonly ownWrites: OwnWrites;
  readonly logger: Logger;
  /** Attempts of a job that does not say how many. */
  readonly maxAttempts: number;
  readonly now: () => Instant;
};
