import { type Static, Type } from "typebox";
import type { ReadModelState } from "../../../projections/read-models.ts";
import { scopes, type toShownKey } from "../../access/key-ring.ts";
import type { MessagePassed } from "../../domain/log/events.ts";
import type { StoredEvent } from "../../event-log/event-log.ts";
import type { ConsumerLoad, StreamSize } from "../../event-log/log-gauge.ts";
import { jobTypes } from "../../job-kinds/all-job-kinds.ts";
import type { SameShape } from "../../schemas/same-shape.ts";
import type { WorkerState } from "../../workers/membership.ts";
import { type AnswerOf, count, instant, named, ordinal, orNull, text } from "./parts.ts";

const stream = named("Stream", {
  name: text,
  messages: count,
  bytes: count,
  firstSequence: count,
  lastSequence: count,
  maxBytes: orNull(ordinal),
  maxMessages: orNull(ordinal),
  maxAgeSeconds: orNull(Type.Number({ minimum: 0 })),
  replicas: ordinal,
});

/** Null where NATS has told a number that cannot be. */
const told = orNull(count);
const consumer = named("Consumer", { name: text, stream: text, pending: told, ackPending: told, redelivered: told });

const worker = named("Worker", {
  name: text,
  type: Type.Enum([...jobTypes]),
  busy: count,
  slots: ordinal,
  breaker: orNull(Type.Enum(["closed", "half-open", "open"])),
});

const key = named("Key", {
  id: text,
  tenant: text,
  name: orNull(text),
  scopes: Type.Array(Type.Enum([...scopes])),
  createdAt: instant,
  revokedAt: orNull(instant),
});

const passed = named("PassedMessage", {
  sequence: ordinal,
  subject: text,
  sha256: text,
  fault: text,
  reason: text,
  passedAt: instant,
  passedBy: text,
});

export const toPassedAnswer = ({
  event: { at, data },
  actor,
}: StoredEvent<MessagePassed>): AnswerOf<typeof passed> => ({
  ...data,
  passedAt: at,
  passedBy: actor,
});

export const system = named("System", {
  streams: Type.Array(stream),
  consumers: Type.Array(consumer),
  workers: Type.Array(worker),
  keys: Type.Array(key),
  passed: Type.Array(passed),
});

const rows = named("RowsOfReadModel", { version: ordinal, sequence: count });

export const rebuildRequest = named("RebuildRequest", {
  requestedAt: instant,
  requestedBy: text,
  error: orNull(text),
});

export const toRequestAnswer = ({
  requestedAt,
  requestedBy,
  error,
}: NonNullable<ReadModelState["request"]>): AnswerOf<typeof rebuildRequest> => ({ requestedAt, requestedBy, error });

const readModel = named("ReadModel", {
  name: text,
  version: ordinal,
  status: orNull(Type.Enum(["live", "rebuilding", "stopped"])),
  error: orNull(text),
  stoppedAtSequence: orNull(count),
  live: orNull(rows),
  next: orNull(rows),
  kept: orNull(rows),
  request: orNull(rebuildRequest),
});

export const toReadModelAnswer = (state: ReadModelState): AnswerOf<typeof readModel> => ({
  name: state.projection,
  version: state.version,
  // A rebuild that was killed left its word behind; whoever holds the lock is at it.
  status: state.isAtWork ? "rebuilding" : state.status,
  error: state.error,
  stoppedAtSequence: state.stoppedAtSequence,
  live: toRows(state.live),
  next: toRows(state.next),
  kept: toRows(state.kept),
  request: state.request && toRequestAnswer(state.request),
});

const toRows = (checkpoint: ReadModelState["live"]) =>
  checkpoint && { version: checkpoint.version, sequence: checkpoint.sequence };

export const readModelList = named("ReadModelList", {
  lastSequence: orNull(count),
  data: Type.Array(readModel),
  nextCursor: Type.Null(),
});

true satisfies SameShape<Static<typeof stream>, StreamSize>;
true satisfies SameShape<Static<typeof consumer>, ConsumerLoad>;
true satisfies SameShape<Static<typeof worker>, WorkerState>;
true satisfies SameShape<Static<typeof key>, ReturnType<typeof toShownKey>>;
