import { readChanged, streamOfBucket, subjectsOfBucket } from "./bucket.ts";
import { asking, type JetStreamConnection } from "./connection.ts";
import { nameWith } from "./names.ts";

export type FollowedBucket = {
  /** Reads the bucket if it has changed since it was read last. Throws Unavailable. */
  refresh(): Promise<void>;
  /** How long ago the entries were last known to be complete. */
  ageMs(): number;
  /** How long ago the last look ended, also one without an answer. */
  sinceLookMs(): number;
  stop(): Promise<void>;
};

export type BucketEntry = { readonly name: string; readonly text: string };

export type BucketToFollow = {
  readonly bucket: string;
  readonly prefix: string;
  /** How long a change may go unnoticed whose announcement is lost. Each process asks the server more than twice as often. */
  readonly knownWithinMs: number;
};

/**
 * An announcement can come before its entry is stored, in a cluster above all, and a reading can fail: after a change the
 * bucket is looked at again, as often as this and this far apart.
 */
const looksAfterChange = 2;
const againMs = 500;

/**
 * Reads a bucket that exists whenever it has changed: what has changed alone, as ten thousand tenants have thirty thousand
 * keys. A change is announced at once; because an announcement can be lost, the version of the bucket is also polled. Returns
 * once everything has been read. If `read` throws, or answers that it could not read all of them, it is given them again.
 */
export async function followBucket(
  connection: JetStreamConnection,
  { bucket, prefix, knownWithinMs }: BucketToFollow,
  read: (entries: readonly BucketEntry[]) => boolean,
  report: (failure: unknown) => void,
): Promise<FollowedBucket> {
  const name = nameWith(prefix, bucket);
  let known = nothingOf("", 0);
  let connections = 0;
  let completeAt = Number.NEGATIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;
  const inTimeMs = 0.4 * knownWithinMs;
  let looksLeft = 0;
  let signalChange: () => void = () => {};

  const readChanges = async (): Promise<void> => {
    const askedAt = performance.now();
    const during = connections;
    const found = await stateOf(connection, name);
    if (found.version !== known.taken || found.sequence < known.upTo) {
      const isSame = known.during === during && found.created === known.created && found.sequence >= known.upTo;
      if (!isSame) known = nothingOf(found.created, during);
      known.upTo = await readChanged(connection, name, known.texts, known.upTo);
      // A write between the requests is read now, and given again next time, because the version then differs.
      known.taken = read([...known.texts].map(([name, text]) => ({ name, text }))) ? found.version : "";
    }
    known.during = during;
    completeAt = askedAt;
  };
  let latest: Promise<void> = Promise.resolve();
  /** A look that has not begun is for all who ask until then. */
  let next: Promise<void> | null = null;
  const look = async (): Promise<void> => {
    next = null;
    await readChanges().finally(() => {
      lookedAt = performance.now();
    });
  };
  /** One after the other: what was read first must not come last. */
  const refresh = (): Promise<void> => {
    next ??= latest.catch(() => {}).then(look);
    latest = next;
    return next;
  };
  const keepUp = async (): Promise<void> => {
    while (!isStopping) {
      const changed = new Promise<void>((resolve) => {
        signalChange = resolve;
      });
      const timer = setTimeout(() => signalChange(), looksLeft > 0 ? Math.min(againMs, inTimeMs) : inTimeMs);
      looksLeft = Math.max(0, looksLeft - 1);
      await changed;
      clearTimeout(timer);
      if (!isStopping) await refresh().catch(report);
    }
  };

  await refresh();
  const heard = (): void => {
    looksLeft = looksAfterChange;
    signalChange();
  };
  const subscription = connection.nats.subscribe(subjectsOfBucket(name), { callback: heard });
  const stopWaitingForReconnects = connection.onReconnect(() => {
    connections += 1;
    heard();
  });
  const loop = keepUp();
  return {
    refresh,
    ageMs: () => performance.now() - completeAt,
    sinceLookMs: () => performance.now() - lookedAt,
    stop: async () => {
      isStopping = true;
      stopWaitingForReconnects();
      signalChange();
      if (!connection.nats.isClosed()) subscription.unsubscribe();
      await loop;
    },
  };
}

/** What has been read of a bucket, up to a sequence, and the version of it that was taken in whole. */
type Known = {
  readonly created: string;
  readonly texts: Map<string, string>;
  upTo: number;
  taken: string;
  /** The connection that it was read in: a server that comes back may have lost its last messages, and have others in their places. */
  during: number;
};

const nothingOf = (created: string, during: number): Known => ({
  created,
  texts: new Map(),
  upTo: 0,
  taken: "",
  during,
});

type State = { readonly created: string; readonly sequence: number; readonly version: string };

/** The version changes with every write, and when the bucket is created anew. */
async function stateOf(connection: JetStreamConnection, bucket: string): Promise<State> {
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: 1000 });
  const { created, state } = await asking(connection, () => manager.streams.info(streamOfBucket(bucket)));
  const { last_seq: sequence, last_ts: writtenAt } = state;
  return { created, sequence, version: `${created} ${sequence} ${writtenAt}` };
}
