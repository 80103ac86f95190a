import type { MessagePassed } from "../domain/log/events.ts";
import type { StoredEvent } from "./event-log.ts";

/** Another process decided about the job first: read again, decide again. */
export class VersionConflict extends Error {
  override readonly name = "VersionConflict";
}

/**
 * The entries that were asked for are in a file of the archive, and this process cannot read it. Asked again, the answer
 * is the same until an operator puts the file where `ARCHIVE_DIR` says.
 */
export class Archived extends Error {
  override readonly name = "Archived";
  /** The name of the file, without its directory. */
  readonly file: string;

  constructor(file: string, why: string) {
    super(`It is in the archive, in the file ${file}, which cannot be read here: ${why}`);
    this.file = file;
  }
}

/** The log has reached its size limit; nothing was stored. */
export class LogFull extends Error {
  override readonly name = "LogFull";
}

/**
 * The log lost messages that a reader had read, and has others in their places: a server that does not sync each message
 * was cut off from its power, or put back to an earlier backup.
 */
export class LogLostItsEnd extends Error {
  override readonly name = "LogLostItsEnd";
  /** The last sequence that the reader had read and the log still has as it was. */
  readonly keptUpTo: number;

  constructor(readUpTo: number, keptUpTo: number) {
    super(
      `The log lost what was read from it after ${keptUpTo}, up to ${readUpTo}, and has stored something else there.`,
    );
    this.keptUpTo = keptUpTo;
  }
}

/**
 * A stored event of a known type whose data breaks its schema: another program wrote to the log, or a newer release
 * did.
 */
export class UndecodableEvent extends Error {
  override readonly name = "UndecodableEvent";
  readonly sequence: number;
  readonly reason: string;
  /** True if the type is known and the version is not: a process of a newer release can read it. */
  readonly isNewer: boolean;
  /** Null if only the event was available, and not the message that holds it. */
  readonly stored: StoredDigest | null;

  constructor(sequence: number, reason: string, isNewer = false, stored: StoredDigest | null = null) {
    const what = `Event ${sequence} of the log cannot be decoded: ${reason}`;
    super(stored === null ? what : `${what} ("waybill log show ${sequence}" shows it, and how to go on without it)`);
    this.sequence = sequence;
    this.reason = reason;
    this.isNewer = isNewer;
    this.stored = stored;
  }
}

/** How an operator identifies a message. The digest is the one that seals are made of, as hex. */
export type StoredDigest = { readonly subject: string; readonly sha256: string };

/** Whether an operator has decided that readers skip this message, exactly as it is stored. */
export const isPassed = (
  { sequence, stored }: UndecodableEvent,
  passes: readonly StoredEvent<MessagePassed>[],
): boolean => passes.some(({ event }) => event.data.sequence === sequence && event.data.sha256 === stored?.sha256);
