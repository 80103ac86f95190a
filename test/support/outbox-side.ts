import { randomUUID } from "node:crypto";
import type { Knex } from "knex";
import { allProjectors } from "../../projections/all-projectors.ts";
import { migrate } from "../../projections/migrate.ts";
import { createLimits } from "../../src/access/caller-limits.ts";
import { createJetStreamQuota } from "../../src/access/jetstream-quota.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { createJetStreamTemplateStore } from "../../src/content/jetstream-template-store.ts";
import type { TemplateStore } from "../../src/content/template-store.ts";
import { createDatabase } from "../../src/database/database.ts";
import { noRules, type TenantRules } from "../../src/domain/tenant.ts";
import type { EventLog, StoredEvent } from "../../src/event-log/event-log.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { createJetStreamLogRoom } from "../../src/event-log/jetstream-log-room.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { connectJetStream } from "../../src/nats/connection.ts";
import { createMysqlOutbox } from "../../src/outbox/mysql-outbox.ts";
import { createRelay, type RelayDependencies } from "../../src/outbox/relay.ts";
import { bucketSettings } from "./access.ts";
import { readOn } from "./following.ts";
import { newKey, ringOf } from "./keys.ts";
import { migratedDatabase } from "./migrated-database.ts";
import { startNats, type TestNats } from "./services.ts";

/** As an application finds it in the table. */
export type OutboxRow = {
  readonly id: string;
  readonly tenant: string;
  readonly status: "pending" | "processed" | "failed";
  readonly attempts: number;
  readonly next_retry_at: Date | null;
  readonly created_at: Date;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into answers whose shape is what they test.
  readonly response: any;
};

type Created = StoredEvent & { readonly event: Extract<StoredEvent["event"], { type: "JobCreated" }> };

/** A database with the outbox in it, a log, and relays between the two. Nothing reads the log. */
export type OutboxSide = {
  readonly nats: TestNats;
  readonly url: string;
  readonly db: Knex;
  readonly log: EventLog;
  /** What relays reported: outages, and what broke with one row. */
  readonly waits: unknown[];
  readonly broken: unknown[];
  /** What a relay works with, for those that a test makes itself. */
  readonly dependencies: RelayDependencies;
  readonly rules: Record<string, TenantRules>;
  readonly templates: TemplateStore;
  startRelay(changed?: Partial<RelayDependencies>): { stop(): Promise<void> };
  /** Writes a row as an application does; answers its id. */
  insert(row?: { readonly id?: string; readonly tenant?: string; readonly request?: unknown }): Promise<string>;
  row(id: string): Promise<OutboxRow>;
  /** Every job that was ever created. */
  created(): Promise<readonly Created[]>;
  cleanUp(): Promise<void>;
};

export const mailingOfRow = { subject: "Your invoice", body: "Hello Ada", recipients: ["ada@example.com"] };

type ServersOfItsOwn = { readonly databaseUrl?: string; readonly ownNats?: TestNats };

/** On the shared servers unless it says otherwise. Cleans up a NATS of its own as well. */
export async function openOutboxSide({ databaseUrl, ownNats }: ServersOfItsOwn = {}): Promise<OutboxSide> {
  const nats = ownNats ?? (await startNats());
  const { prefix } = nats;
  const database = databaseUrl === undefined ? await migratedDatabase() : null;
  const url = databaseUrl ?? database?.url ?? "";
  const db = createDatabase(url);
  if (database === null) await migrate(db, allProjectors);
  const connection = await connectJetStream(nats.config, "test", () => {});
  await ensureStreams(connection, { prefix, replicas: 1, maxBytes: null });
  const room = await createJetStreamLogRoom(connection, prefix);
  const log = await createJetStreamEventLog(connection, prefix, room.stored);
  const rules: Record<string, TenantRules> = { default: noRules };
  const ring = ringOf([newKey().record], { rules });
  const waits: unknown[] = [];
  const broken: unknown[] = [];
  const stops: (() => Promise<void>)[] = [];
  const templates = await createJetStreamTemplateStore(connection, bucketSettings(nats));
  const dependencies: RelayDependencies = {
    outbox: createMysqlOutbox(db),
    log,
    room,
    quota: createJetStreamQuota(connection, bucketSettings(nats)),
    contentStore: await createJetStreamContentStore(connection, prefix),
    templates,
    limitsOf: createLimits(ring, { mode: "auto", host: "127.0.0.1", mailFrom: "Waybill <waybill@example.org>" }),
    refreshRules: async () => {},
    allowed: [],
    publicUrl: null,
    routesFor: () => ["default"],
    attemptsOfJob: 4,
    now: () => new Date().toISOString(),
  };

  return {
    nats,
    url,
    db,
    log,
    waits,
    broken,
    dependencies,
    templates,
    rules,
    startRelay: (changed = {}) => {
      const relay = createRelay(
        { ...dependencies, ...changed },
        { waits: (failure) => waits.push(failure), rowBroke: (failure) => broken.push(failure) },
      );
      relay.start();
      stops.push(relay.stop);
      return relay;
    },
    insert: async ({ id = randomUUID(), request = mailingOfRow, ...row } = {}) => {
      await db("outbox").insert({ id, ...row, request: JSON.stringify(request) });
      return id;
    },
    row: (id) => readOutboxRow(db, id),
    created: async () => {
      const { lastSequence } = await log.state();
      if (lastSequence === 0) return [];
      const entries = await readOn(log, 0, (read) => (read.at(-1)?.sequence ?? 0) >= lastSequence, 1000);
      return entries.filter((entry) => "event" in entry && entry.event.type === "JobCreated") as Created[];
    },
    cleanUp: async () => {
      for (const stop of stops.splice(0)) await stop();
      await connection.close();
      await db.destroy();
      await database?.drop();
      await nats.cleanUp();
    },
  };
}

const columns = ["id", "tenant", "status", "attempts", "next_retry_at", "created_at", "response"];

/** All but the request, which need not even be JSON. Some servers hand JSON over as text. */
export async function readOutboxRow(db: Knex, id: string): Promise<OutboxRow> {
  const row: OutboxRow | undefined = await db("outbox").where({ id }).first(columns);
  if (row === undefined) throw new Error(`There is no row ${id}.`);
  return { ...row, response: typeof row.response === "string" ? JSON.parse(row.response) : row.response };
}
