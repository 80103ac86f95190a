import type { Instant } from "../domain/message.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isMessageMissing } from "../nats/errors.ts";
import { askJetStream, lastMessageOf } from "../nats/jetstream-api.ts";
import { decodeMessage } from "./decode-entry.ts";
import { type EventLog, logRef, UndecodableEvent } from "./event-log.ts";
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

type Found = { readonly message: { readonly subject: string; readonly data?: string; readonly time: string } };

/** Null if there is no message at this sequence. */
export async function examineMessage(
  connection: JetStreamConnection,
  prefix: string,
  sequence: number,
): Promise<ExaminedMessage | null> {
  try {
    const question = JSON.stringify({ seq: sequence });
    const { message } = await asking(connection, () =>
      askJetStream<Found>(connection, `$JS.API.STREAM.MSG.GET.${streamName(prefix, "JOBS")}`, question),
    );
    const { subject, data = "", time } = message;
    const body = Buffer.from(data, "base64");
    const sha256 = leafHashOf({ sequence, storedAt: nanosOf(time), subject, body }).toString("hex");
    const storedAt = new Date(time).toISOString();
    return { sequence, subject, storedAt, sha256, body, ...whyNot(prefix, subject, sequence, body) };
  } catch (failure) {
    if (isMessageMissing(failure)) return null;
    throw failure;
  }
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

function whyNot(prefix: string, subject: string, sequence: number, body: Uint8Array) {
  try {
    decodeMessage(prefix, subject, sequence, body);
    return { fault: null, isNewer: false };
  } catch (failure) {
    if (!(failure instanceof UndecodableEvent)) throw failure;
    return { fault: failure.reason, isNewer: failure.isNewer };
  }
}

/** `2026-11-21T09:30:00.12Z` as nanoseconds since 1970, in digits: the form that deliveries have. */
function nanosOf(time: string): string {
  const [, seconds = "", fraction = ""] = /^([^.Z]+)(?:\.(\d+))?/.exec(time) ?? [];
  return `${Date.parse(`${seconds}Z`) / 1000}${fraction.padEnd(9, "0")}`;
}
