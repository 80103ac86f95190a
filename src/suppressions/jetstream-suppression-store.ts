import { randomBytes } from "node:crypto";
import { Type } from "typebox";
import type { Instant } from "../domain/message.ts";
import { suppressionReasons } from "../domain/recipients/events.ts";
import { LogFull } from "../event-log/log-failures.ts";
import { streamName, suppressionSecretSubject, suppressionSubjectOf } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { lastMessageOf, nextMessageOf, removeMessage, type StreamMessage, storeIfLast } from "../nats/jetstream-api.ts";
import { checkRequest } from "../schemas/request-schema.ts";
import type { AddressKey, Suppression, SuppressionStore } from "./suppression-store.ts";

const secretBytes = 32;
/** So many marks of removed addresses are passed over in one page: each takes a request, and a page is to be there in time. */
const mostPassed = 250;

const noRoom = (cause: unknown): Error => new LogFull("There is no room for a suppression.", { cause });

/**
 * One message for each address in the stream SUPPRESSIONS, which `ensureStreams` creates or checks. The secret is stored
 * among them: the digests mean nothing without it, so neither can be restored without the other.
 */
export function createJetStreamSuppressionStore(connection: JetStreamConnection, prefix: string): SuppressionStore {
  const stream = streamName(prefix, "SUPPRESSIONS");
  const subjectOf = ({ tenant, digest }: AddressKey): string => suppressionSubjectOf(prefix, tenant, digest);
  const last = (subject: string) => asking(connection, () => lastMessageOf(connection, stream, subject));
  /** Overwrites the message with random bytes, rather than only unlinking it. */
  const erase = (sequence: number) => asking(connection, () => removeMessage(connection, stream, sequence));

  /** The process that wrote the record may have died before it erased the one with the address. */
  const eraseReplaced = async ({ replaces }: Pick<SuppressionRecord, "replaces">): Promise<void> => {
    if (replaces !== undefined) await erase(replaces);
  };

  /** False if the last message of the subject is not the expected one; 0 expects none. */
  const publish = (subject: string, data: string | Uint8Array, expectedSequence: number): Promise<boolean> =>
    storeIfLast(connection, subject, data, expectedSequence, noRoom);

  return {
    secret: async () => {
      const subject = suppressionSecretSubject(prefix);
      for (;;) {
        const stored = await last(subject);
        if (stored !== null) return Buffer.from(stored.data);
        const fresh = randomBytes(secretBytes);
        if (await publish(subject, fresh, 0)) return fresh;
      }
    },
    find: async (key) => {
      const stored = await last(subjectOf(key));
      const record = stored === null ? null : recordIn(stored);
      return record === null || record.removedAt !== undefined ? null : toSuppression(record);
    },
    put: async (key, suppression, ofJob) => {
      const record = encodeSuppression(ofJob === undefined ? suppression : { ...suppression, jobId: ofJob });
      for (;;) {
        if (await publish(subjectOf(key), record, 0)) return { isNew: true, suppression };
        const stored = await last(subjectOf(key));
        if (stored === null) continue;
        const there = recordIn(stored);
        if (there.removedAt === undefined) return { isNew: false, suppression: toSuppression(there) };
        if (suppression.event !== undefined && suppression.createdAt <= there.removedAt) {
          return { isNew: false, suppression };
        }
        await eraseReplaced(there);
        if (await publish(subjectOf(key), record, stored.sequence)) {
          await erase(stored.sequence);
          return { isNew: true, suppression };
        }
      }
    },
    remove: async (key, removedAt) => {
      for (;;) {
        const stored = await last(subjectOf(key));
        if (stored === null) return false;
        const { reason, createdAt, ...there } = recordIn(stored);
        if (there.removedAt !== undefined) {
          await eraseReplaced(there);
          return false;
        }
        // First: of three messages of a subject the server itself would drop the oldest, and only unlink it.
        await eraseReplaced(there);
        const removed = { email: null, reason, createdAt, removedAt, replaces: stored.sequence };
        if (!(await publish(subjectOf(key), encodeSuppression(removed), stored.sequence))) continue;
        await erase(stored.sequence);
        return true;
      }
    },
    forget: async (key, ofJob) => {
      for (;;) {
        const stored = await last(subjectOf(key));
        if (stored === null) return false;
        const { replaces, jobId, event: _, ...record } = recordIn(stored);
        if (record.email === null) {
          await eraseReplaced({ replaces });
          return record.removedAt === undefined;
        }
        if (ofJob !== undefined && jobId !== ofJob) return true;
        const forgotten: SuppressionRecord = { ...record, email: null, replaces: stored.sequence };
        await publish(subjectOf(key), encodeSuppression(forgotten), stored.sequence);
      }
    },
    page: async (tenant, { after, limit }) => {
      const suppressions: Suppression[] = [];
      let [at, passed] = [after, 0];
      // One by one, because a consumer with a filter first counts all matches: a second for a million, on 2.9.
      for (;;) {
        const wanted = suppressionSubjectOf(prefix, tenant, "*");
        const from = at + 1;
        const found = await asking(connection, () => nextMessageOf(connection, stream, wanted, from));
        if (found === null) return { suppressions, next: null };
        const record = recordIn(found);
        if (record.removedAt === undefined) {
          if (suppressions.length === limit) return { suppressions, next: at };
          suppressions.push(toSuppression(record));
        } else passed += 1;
        at = found.sequence;
        if (passed === mostPassed) return { suppressions, next: at };
      }
    },
  };
}

const recordIn = ({ data }: StreamMessage): SuppressionRecord => decodeSuppression(Buffer.from(data).toString());

/** A suppression as it is stored. */
export type SuppressionRecord = Suppression & {
  /** The job whose mail caused it; dropped together with the address. */
  readonly jobId?: string;
  /** The sequence of the entry with the address, which this entry without it replaced. */
  readonly replaces?: number | undefined;
  /** When the address was removed from the list: it may be mailed again. */
  readonly removedAt?: Instant;
};

const text = Type.String({ description: "a string" });

// Fields that a newer release added are allowed.
const check = checkRequest(
  Type.Object({
    email: Type.Union([text, Type.Null()]),
    reason: text,
    createdAt: text,
    event: Type.Optional(text),
    jobId: Type.Optional(text),
    replaces: Type.Optional(Type.Integer()),
    removedAt: Type.Optional(text),
  }),
);

export const encodeSuppression = (record: SuppressionRecord): string => JSON.stringify(record);

/** A malformed entry still suppresses its address: no one is mailed because an entry is broken or newer than this release. */
export function decodeSuppression(bytes: string): SuppressionRecord {
  const checked = check(parsed(bytes));
  if (!checked.valid) return { email: null, reason: "manual", createdAt: new Date(0).toISOString() };
  const { reason, ...others } = checked.value;
  return { ...others, reason: suppressionReasons.find((known) => known === reason) ?? "manual" };
}

export const toSuppression = ({ email, reason, createdAt, event }: SuppressionRecord): Suppression => ({
  email,
  reason,
  createdAt,
  ...(event === undefined ? {} : { event }),
});

function parsed(bytes: string): unknown {
  try {
    return JSON.parse(bytes);
  } catch {
    return null;
  }
}
