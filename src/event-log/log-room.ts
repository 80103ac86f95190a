/**
 * Whether the log still has room for new jobs. The last fifth of its size limit is kept for what becomes of those that
 * were accepted: an outcome that cannot be stored is worse than a job that is refused.
 */
export interface LogRoom {
  /**
   * False from 80 % of the limit on; true where there is none. It waits only where the size was not asked for a while,
   * and throws LogUnavailable when it then does not come to know it.
   */
  isLeftForJobs(): Promise<boolean>;
}
