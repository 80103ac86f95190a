import type { Instant } from "../domain/message.ts";
import { asking, type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { lastMessageOf, messageAt } from "../nats/jetstream-api.ts";
import type { StoredMessage } from "../nats/message.ts";
import { type EventLog, logRef } from "./event-log.ts";
import { decodeOrFail } from "./jetstream-passes.ts";
import { UndecodableEvent } from "./log-failures.ts";
import { leafHashOf } from "./log-message.ts";
import { streamName, subjectOf } from "./subjects.ts";

/** A message of the log as it is stored, and what this release can read in it. */
export type ExaminedMessage = {
  readonly sequence: number;
  readonly subject: string;
  readonly storedAt: Instant;
  readonly sha256: string;
  readonly body: Uint8Array;
  /** Why it cannot be decoded; null if it can be. */
  readonly fault: string | null;
  /** A process of a newer release can decode it. */
  readonly isNewer: boolean;
};

/** Null if there is no message at this sequence. */
export async function examineMessage(
  connection: JetStreamConnection,
  prefix: string,
  sequence: number,
): Promise<ExaminedMessage | null> {
  const stored = await asking(connection, () => messageAt(connection, streamName(prefix, "JOBS"), sequence));
  return stored === null ? null : examined(prefix, stored);
}

/** The same for a message that was read from elsewhere. */
export function examined(prefix: string, message: StoredMessage): ExaminedMessage {
  const { sequence, subject, data: body, storedAt } = message;
  const sha256 = leafHashOf({ sequence, storedAt, subject, body }).toString("hex");
  const decoded = decodeOrFail(prefix, message);
  const { reason: fault, isNewer } = decoded instanceof UndecodableEvent ? decoded : { reason: null, isNewer: false };
  const at = new Date(Number(storedAt) / nanosOf(1)).toISOString();
  return { sequence, subject, storedAt: at, sha256, body, fault, isNewer };
}

export type Pass = Pick<ExaminedMessage, "sequence" | "subject" | "sha256"> & {
  readonly fault: string;
  readonly reason: string;
  readonly actor: string;
  readonly at: Instant;
};

/** Records the decision, guarded by the last message on its subject, whatever that is. Throws VersionConflict. */
export async function recordPass(
  connection: JetStreamConnection,
  prefix: string,
  log: Pick<EventLog, "append">,
  { actor, at, ...data }: Pass,
): Promise<number> {
  const subject = subjectOf(prefix, logRef, "pass");
  const last = await asking(connection, () => lastMessageOf(connection, streamName(prefix, "JOBS"), subject));
  const id = `pass/${data.sequence}/${data.sha256.slice(0, 16)}`;
  const cause = { actor, correlationId: null, causationId: null, traceparent: null };
  return await log.append(logRef, [{ ...cause, id, event: { type: "MessagePassed", at, data } }], last?.sequence ?? 0);
}
