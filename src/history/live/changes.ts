/**
 * The changes that a watcher has not taken yet. Changes of status are kept until they are taken; of all other changes only
 * the fact that there were some: a slow watcher sees fewer steps, and the same end.
 */
export type Progress<Moment> = {
  /** The oldest change of status that has not been taken yet. */
  takeStatus(): Moment | null;
  hasStatus(): boolean;
  hasProgress(): boolean;
  /** The present state, if anything has changed since it was taken last. */
  takeProgress(): Moment | null;
  /** The present state, whether or not it was taken before; null before the first event. */
  now(): Moment | null;
  /** Changes of status came faster than they were taken, so no more of them are kept. */
  isLost(): boolean;
};

/** A job or a mailing is paused and resumed by hand: a watcher is hardly ever behind by so many. */
const maxStatuses = 100;

/** The changes of what `now` shows. */
export function createChanges<Moment>(now: () => Moment | null) {
  let statuses: Moment[] = [];
  let room = Number.POSITIVE_INFINITY;
  let isLost = false;
  let hasProgress = false;
  const progress: Progress<Moment> = {
    now,
    isLost: () => isLost,
    hasStatus: () => statuses.length > 0,
    hasProgress: () => hasProgress,
    takeStatus: () => statuses.shift() ?? null,
    takeProgress: () => {
      const moment = hasProgress ? now() : null;
      hasProgress = false;
      return moment;
    },
  };
  return {
    progress,
    /** Carries the whole present state, and with it everything before. */
    status: (): void => {
      hasProgress = false;
      isLost ||= statuses.length >= room;
      const moment = isLost ? null : now();
      if (moment !== null) statuses.push(moment);
    },
    other: (): void => {
      hasProgress = true;
    },
    /** What was kept so far was seen before. */
    forget: (): void => {
      statuses = [];
      hasProgress = false;
    },
    /** From here on the watcher must keep up by itself, whatever there was to repeat. */
    begin: (first: Moment | null): void => {
      if (first !== null) statuses = [first];
      room = statuses.length + maxStatuses;
    },
    /** Changes what is kept, where it must not be taken any more as it was. */
    rewrite: (change: (moment: Moment) => Moment): void => {
      statuses = statuses.map(change);
    },
  };
}
