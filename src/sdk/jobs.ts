import { type Requests, settled, untilEnded } from "./requests.ts";
import type {
  AnswerTo,
  BodyOf,
  CallOptions,
  CreatedJob,
  CreateOptions,
  DryRun,
  Job,
  JobRequest,
  LogEntry,
  QueryOf,
  Reason,
  Recipient,
  WaitOptions,
} from "./types.ts";

const one = "/api/jobs/{jobId}";

type Retry = CallOptions & NonNullable<BodyOf<`${typeof one}/retry`, "post">>;
type Move = BodyOf<typeof one, "patch">;

/** Whether a job has the time and the priority that were asked for. A time that has passed means now, and so does null. */
function isMoved(job: Job, { scheduledAt, priority = job.priority }: Move): boolean {
  if (priority.toLowerCase() !== job.priority) return false;
  if (scheduledAt === undefined) return true;
  const [asked, itsTime] = [Date.parse(scheduledAt ?? ""), Date.parse(job.scheduledAt ?? "")];
  return asked === itsTime || (job.scheduledAt === null && !(asked > Date.now()));
}

export const createJobs = (requests: Requests) => {
  const { request, open, readText, pages, linkedPages } = requests;
  const decide = (decision: "pause" | "resume", jobId: string, { signal, ...body }: Reason): Promise<Job> =>
    request("post", `${one}/${decision}`, { params: { jobId }, body, isRepeatable: true, signal });
  const get = (jobId: string, options: CallOptions = {}): Promise<Job> =>
    request("get", one, { params: { jobId }, ...options });
  return {
    get,
    /** Creates a job once, also where the answer is lost. */
    create: async (
      body: JobRequest,
      { signal, idempotencyKey = crypto.randomUUID() }: CreateOptions = {},
    ): Promise<CreatedJob> => (await request("post", "/api/jobs", { body, idempotencyKey, signal })) as CreatedJob,
    /** The first mail as it would be sent. Stores nothing and sends nothing. */
    dryRun: async (body: JobRequest, { signal }: CallOptions = {}): Promise<DryRun> => {
      const asked = { body: { ...body, dryRun: true } as BodyOf<"/api/jobs", "post">, isRepeatable: true, signal };
      return (await request("post", "/api/jobs", asked)) as DryRun;
    },
    list: (query: QueryOf<"/api/jobs", "get"> = {}, options: CallOptions = {}): AsyncGenerator<Job> =>
      pages("/api/jobs", query, options),
    /** The job once it has ended, however it ended. */
    wait: (jobId: string, options: WaitOptions = {}): Promise<Job> =>
      untilEnded((how) => request("get", one, { params: { jobId }, ...how }), options),
    cancel: (jobId: string, { signal, ...body }: Reason = {}): Promise<Job> =>
      settled(
        request("delete", one, { params: { jobId }, body, signal }),
        ({ currentStatus }) => currentStatus === "cancelled",
        () => get(jobId, { signal }),
      ),
    pause: (jobId: string, options: Reason = {}): Promise<Job> => decide("pause", jobId, options),
    resume: (jobId: string, options: Reason = {}): Promise<Job> =>
      settled(
        decide("resume", jobId, options),
        ({ code }) => code === "job-not-paused",
        () => get(jobId, { signal: options.signal }),
      ),
    /** Runs it again for those who were not reached. Not repeated after a lost answer: `get` says what happened. */
    retry: (jobId: string, { signal, ...body }: Retry = {}): Promise<Job> =>
      request("post", `${one}/retry`, { params: { jobId }, body, signal }),
    /** Moves a job that has not started. */
    reschedule: (jobId: string, body: Move, { signal }: CallOptions = {}): Promise<Job> =>
      settled(
        request("patch", one, { params: { jobId }, body, isRepeatable: true, signal }),
        ({ code }) => code === "job-has-started" || code === "job-has-ended",
        async () => {
          const job = await get(jobId, { signal });
          return isMoved(job, body) ? job : null;
        },
      ),
    /** Its recipients, each with its present state. */
    recipients: (
      jobId: string,
      query: QueryOf<`${typeof one}/recipients`, "get"> = {},
      options: CallOptions = {},
    ): AsyncGenerator<Recipient> => pages(`${one}/recipients`, query, { params: { jobId }, ...options }),
    /** What happened to its recipients, attempt by attempt. */
    logs: (
      jobId: string,
      query: QueryOf<`${typeof one}/logs`, "get"> = {},
      options: CallOptions = {},
    ): AsyncGenerator<LogEntry> => linkedPages(`${one}/logs`, query, { params: { jobId }, ...options }),
    /** Its history, as the log has it. */
    events: (jobId: string, options: CallOptions = {}): Promise<AnswerTo<`${typeof one}/events`, "get">> =>
      request("get", `${one}/events`, { params: { jobId }, ...options }),
    explain: (jobId: string, options: CallOptions = {}): Promise<AnswerTo<`${typeof one}/explain`, "get">> =>
      request("get", `${one}/explain`, { params: { jobId }, ...options }),
    /** A bundle for `verifyEvidence`. */
    evidence: (jobId: string, options: CallOptions = {}): Promise<string> =>
      readText("get", `${one}/evidence`, { params: { jobId }, ...options }),
    /** The file that it made, to be read as it comes. */
    result: (jobId: string, options: CallOptions = {}): Promise<Response> =>
      open("get", `${one}/result`, { params: { jobId }, ...options }),
    /** Erases what it sent and to whom, for good. */
    eraseContent: (jobId: string, reason: string, { signal }: CallOptions = {}): Promise<Job> =>
      request("delete", `${one}/content`, { params: { jobId }, body: { reason }, signal }),
  };
};
