import type { Knex } from "knex";
import { checkpointTable } from "../../projections/following/checkpoint.ts";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { createReadPositions, type ReadPositions } from "../../projections/following/read-position.ts";
import {
  createProjectorRunner,
  type ProjectorRunner,
  type ProjectorSetup,
} from "../../projections/following/run-projector.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { Projector } from "../../projections/projector.ts";
import { rebuild } from "../../projections/rebuilding/rebuild.ts";
import type { RebuildSetup } from "../../projections/rebuilding/replace-live.ts";
import type { ContentStore, JobContent } from "../../src/content/content-store.ts";
import { encodeContent } from "../../src/content/encode-content.ts";
import { createDatabase } from "../../src/database/database.ts";
import type { EventOfJob } from "../../src/domain/job/job-view.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import type { Announcements } from "../../src/event-log/following/announcements.ts";
import { jobCreated, jobFailed, jobStarted, recipientFailed, recipientSent } from "./examples.ts";
import { happen, newJob } from "./happen.ts";
import { createMemoryAnnouncements } from "./memory/memory-announcements.ts";
import { createMemoryContentStore } from "./memory/memory-content-store.ts";
import { createMemoryEventLog } from "./memory/memory-event-log.ts";
import { migratedDatabase } from "./migrated-database.ts";
import { outcomesProjector } from "./outcomes-projector.ts";

export type LoggedLine = {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

/** A migrated database of its own, and projections that read a log in memory into it. */
export type ReadSide = {
  readonly url: string;
  readonly db: Knex;
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly announcements: Announcements;
  readonly positions: ReadPositions;
  readonly logged: readonly LoggedLine[];
  /** Stores content of a job whose recipients are `<n>@example.com`, unless it says otherwise. */
  storeContent(job: JobRef, content?: Partial<JobContent>): Promise<void>;
  /** Appends events of a job to the log; answers the sequence of the last. */
  happens(job: JobRef, ...events: readonly EventOfJob[]): Promise<number>;
  /** The whole life of a job with three recipients: six events. */
  mailing(): Promise<JobRef>;
  /** Runs a projection as a process of its own would, with connections of its own. */
  startProjector(projector: Projector, changed?: Partial<ProjectorSetup>): ProjectorRunner;
  startProjectors(): readonly ProjectorRunner[];
  /** Whether one was started for it that was not stopped. */
  isProjecting(projection: string): boolean;
  /** Waits until a projection, or both of jobs and outcomes, have come to the end of the log. */
  caughtUp(...projections: readonly string[]): Promise<void>;
  rebuild(projectors?: readonly Projector[], log?: EventLog): Promise<void>;
  /** What a rebuild, and all that goes with it, works with. */
  rebuildSetup(changed?: Partial<RebuildSetup>): RebuildSetup;
  cleanUp(): Promise<void>;
};

export const exampleJobContent: JobContent = {
  name: "November",
  metadata: { campaign: "11" },
  subject: "Your invoice",
  html: "<p>Hello</p>",
  text: null,
  from: null,
  replyTo: null,
  headers: {},
  recipients: [0, 1, 2].map((index) => ({ email: `${index}@example.com` })),
};

const twoFailures = [recipientFailed({ recipient: 1 }), recipientFailed({ recipient: 2 })];

export async function openReadSide(log: EventLog = createMemoryEventLog()): Promise<ReadSide> {
  const database = await migratedDatabase();
  const { url } = database;
  const db = createDatabase(url);
  const contentStore = createMemoryContentStore();
  const announcements = createMemoryAnnouncements();
  const positions = createReadPositions(db, announcements);
  const sources = { readContent: createContentReader(contentStore) };
  const logged: LoggedLine[] = [];
  const logger = createTestLogger(logged);
  const stops: (() => Promise<unknown>)[] = [];
  const projecting: string[] = [];

  const rebuildSetup: ReadSide["rebuildSetup"] = (changed = {}) => ({
    db,
    log,
    sources,
    announcements,
    onProgress: () => {},
    onKeys: () => {},
    onRebuilt: () => {},
    ...changed,
  });

  const startProjector: ReadSide["startProjector"] = (projector, changed = {}) => {
    const own = createDatabase(url);
    const runner = createProjectorRunner({
      projector,
      db: own,
      log,
      sources,
      announcements,
      logger,
      mayChangeTables: true,
      ...changed,
    });
    stops.push(runner.stop, () => own.destroy());
    runner.start();
    projecting.push(projector.name);
    const stop: ProjectorRunner["stop"] = async () => {
      if (projecting.includes(projector.name)) projecting.splice(projecting.indexOf(projector.name), 1);
      await runner.stop();
    };
    return { ...runner, stop };
  };

  return {
    url,
    db,
    log,
    contentStore,
    announcements,
    positions,
    logged,
    storeContent: async (job, content = {}) => {
      await contentStore.put(job, encodeContent({ ...exampleJobContent, ...content }));
    },
    happens: (job, ...events) => happen(log, job, events),
    mailing: async () => {
      const job = newJob();
      await contentStore.put(job, encodeContent(exampleJobContent));
      await happen(log, job, [jobCreated(), jobStarted(), recipientSent(), ...twoFailures, jobFailed()]);
      return job;
    },
    startProjector,
    isProjecting: (projection) => projecting.includes(projection),
    startProjectors: () => [jobsProjector, outcomesProjector].map((projector) => startProjector(projector)),
    caughtUp: async (...projections) => {
      const { lastSequence } = await log.state();
      for (const projection of projections.length === 0 ? ["jobs", "outcomes"] : projections) {
        if (await positions.waitFor(projection, lastSequence, 30_000)) continue;
        throw new Error(`${projection} is at ${await positions.current(projection)}, not yet at ${lastSequence}`);
      }
    },
    rebuild: (projectors = [jobsProjector, outcomesProjector], from = log) =>
      rebuild(projectors, rebuildSetup({ log: from })),
    rebuildSetup,
    cleanUp: async () => {
      for (const stop of stops.splice(0)) await stop();
      await db.destroy();
      await database.drop();
    },
  };
}

function createTestLogger(logged: LoggedLine[]): ProjectorSetup["logger"] {
  const at =
    (level: LoggedLine["level"]) =>
    (fields: object, message: string): void => {
      logged.push({ level, message, fields: fields as LoggedLine["fields"] });
    };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** Every table of a projection whole, its checkpoint too, sorted so that two can be compared. */
export async function tablesOf(db: Knex, projector: Projector): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const names = [checkpointTable(projector.name), ...Object.keys(projector.tables)];
  const tables = await Promise.all(names.map(async (name) => [name, await rowsOf(db, name)] as const));
  return Object.fromEntries(tables);
}

/** The same of jobs and outcomes. */
export const tablesOfBoth = async (db: Knex) => [
  await tablesOf(db, jobsProjector),
  await tablesOf(db, outcomesProjector),
];

/** What the live projections make of the log, at rest. */
export async function liveTables(side: ReadSide): ReturnType<typeof tablesOfBoth> {
  const runners = side.startProjectors();
  await side.caughtUp();
  await Promise.all(runners.map((runner) => runner.stop()));
  return tablesOfBoth(side.db);
}

async function rowsOf(db: Knex, table: string): Promise<readonly unknown[]> {
  const rows: object[] = await db(table).select();
  return rows.map((row) => JSON.stringify(row)).sort();
}

/** A job of each history, as the projection of jobs has it then. */
export async function jobsWith(
  side: Pick<ReadSide, "happens" | "caughtUp">,
  histories: readonly (readonly EventOfJob[])[],
): Promise<readonly JobRef[]> {
  const jobs: JobRef[] = [];
  for (const history of histories) {
    const job = newJob();
    await side.happens(job, ...history);
    jobs.push(job);
  }
  await side.caughtUp("jobs");
  return jobs;
}
