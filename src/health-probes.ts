import type { Knex } from "knex";
import type { Role } from "./config.ts";
import type { EventLog } from "./event-log/event-log.ts";
import type { Probe } from "./http/routes/health.ts";

/**
 * What `/readyz` looks at. A process that takes jobs is ready without the database: they are accepted and mailed while
 * it is away, and taking the process out of service for it would break that promise.
 */
export const probesFor = (roles: ReadonlySet<Role>, log: EventLog, db: Knex): readonly Probe[] => [
  {
    name: "nats",
    isNeeded: true,
    check: async () => ({ lastSequence: (await log.state()).lastSequence }),
  },
  {
    name: "mysql",
    isNeeded: roles.has("projector") && !roles.has("api"),
    check: async () => {
      await db.raw("SELECT 1");
      return {};
    },
  },
];
