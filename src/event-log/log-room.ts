/**
 * Whether the log still has room for new jobs. The last fifth of its size limit is kept for what becomes of those that
 * were accepted: an outcome that cannot be stored is worse than a job that is refused.
 */
export interface LogRoom {
  /**
   * False from 80 % of the limit on, with what jobs that were just accepted are still to write counted as written; true
   * where there is no limit. It waits only where the size was not asked for a while, and throws Unavailable when it
   * then does not come to know it. Whoever is about to accept a job says for how many recipients, so that those who ask
   * before it is stored are not told of the same room.
   */
  isLeftForJobs(recipients?: number): Promise<boolean>;
}
