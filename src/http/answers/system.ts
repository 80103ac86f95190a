import { Type } from "typebox";
import { scopes } from "../../access/key-ring.ts";
import type { MessagePassed } from "../../domain/log/events.ts";
import type { StoredEvent } from "../../event-log/event-log.ts";
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

/** Null where NATS reports an impossible number. */
const reported = orNull(count);
const consumer = named("Consumer", {
  name: text,
  stream: text,
  pending: reported,
  ackPending: reported,
  redelivered: reported,
});

const workerOf = (jobTypes: readonly string[]) =>
  named("Worker", {
    name: text,
    type: Type.Enum([...jobTypes]),
    busy: count,
    slots: ordinal,
    helping: count,
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

/** `jobTypes` lists the types that workers may serve. */
export const systemOf = (jobTypes: readonly string[]) =>
  named("System", {
    streams: Type.Array(stream),
    consumers: Type.Array(consumer),
    workers: Type.Array(workerOf(jobTypes)),
    keys: Type.Array(key),
    passed: Type.Array(passed),
  });

const rows = named("RowsOfReadModel", { version: ordinal, sequence: count });

export const rebuildRequest = named("RebuildRequest", {
  requestedAt: instant,
  requestedBy: text,
  error: orNull(text),
});

type RequestAnswer = AnswerOf<typeof rebuildRequest>;

export const toRequestAnswer = ({ requestedAt, requestedBy, error }: RequestAnswer): RequestAnswer => ({
  requestedAt,
  requestedBy,
  error,
});

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

type ReadModelAnswer = AnswerOf<typeof readModel>;

/** The state that a projection reports of its read model. */
type ReadModelState = Omit<ReadModelAnswer, "name"> & { readonly projection: string; readonly isAtWork: boolean };

export const toReadModelAnswer = (state: ReadModelState): ReadModelAnswer => ({
  name: state.projection,
  version: state.version,
  // A rebuild that was killed leaves its status behind, so the lock decides: a rebuild runs only while a process holds it.
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
