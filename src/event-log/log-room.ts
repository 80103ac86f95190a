/**
 * Whether the log still has room for new jobs. The last fifth of its size limit is reserved for the events of jobs that
 * were accepted: an outcome that cannot be stored is worse than a rejected job.
 */
export interface LogRoom {
  /**
   * False from 80 % of the limit on, where the pending writes of jobs that were just accepted count as written, and from
   * 80 % of what the account may store; true without a limit. It waits only if the last known size is stale, and throws Unavailable if it then gets no answer.
   * The caller passes the number of recipients of the job that it is about to accept, so that two callers are not
   * promised the same room.
   */
  isLeftForJobs(recipients?: number): Promise<boolean>;
}
