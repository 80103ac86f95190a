import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Asked, ask } from "./ask.ts";
import type { Observed } from "./observed.ts";

export type LoadShape = {
  readonly recipientsPerJob: number;
  /** Between two jobs; 0 posts all of them at once. */
  readonly everyMs: number;
  /** The load ends by itself after so many jobs. */
  readonly jobs: number;
  /** Instead of the many that the stage gives every job. */
  readonly maxAttempts?: number;
  /** Clients: each waits until its job was accepted before it posts another. Without a number there are always enough. */
  readonly clients?: number;
  /** No new job while more mails than this are still to come. */
  readonly mostWaiting?: number;
};

/**
 * Some 130 mails a second, four fifths of what the two workers can send: both of them are busy all the time. A slow machine
 * gets no more ahead of it than what comes together during a fault.
 */
export const steadyLoad: LoadShape = { recipientsPerJob: 40, everyMs: 300, jobs: 1000, mostWaiting: 1500 };

/** A mailing whose POST was answered 201. */
export type AcceptedJob = {
  readonly jobId: string;
  /** By index, as the log names them. */
  readonly recipients: readonly string[];
  /** Those whom the mail server refuses for good. */
  readonly refused: ReadonlySet<string>;
};

/** What a client was told, and when. */
export type Told = {
  /** `201`, `503`, `ECONNREFUSED`, … */
  readonly word: string;
  readonly isOfPost: boolean;
  /** By the clock of `performance`. */
  readonly at: number;
  readonly afterMs: number;
};

export type Load = {
  readonly accepted: readonly AcceptedJob[];
  /** Adds a job that another client has caused: what must hold of all jobs must hold of it. */
  readonly adopt: (job: AcceptedJob) => void;
  /** All that clients were told, in the order of its arrival. */
  readonly told: readonly Told[];
  /** What clients were told instead of a success, and how often: `503`, `ECONNREFUSED`, … */
  readonly trouble: ReadonlyMap<string, number>;
  /** What no client should ever be told. */
  readonly wrong: readonly string[];
  /** No new job from now on; resolves once each one posted was accepted. */
  stop(): Promise<void>;
};

const againMs = 250;
const refusedPerJob = 2;
const giveUpAfterMs = 60_000;

/** Posts mailings one after the other, each until it is accepted, under an idempotency key of its own. */
export function startLoad(
  { apiUrls, mailServer, headers = {} }: Pick<Observed, "apiUrls" | "mailServer" | "headers">,
  purpose: string,
  shapes: readonly LoadShape[],
): Load {
  const accepted: AcceptedJob[] = [];
  const told: Told[] = [];
  const trouble = new Map<string, number>();
  const wrong: string[] = [];
  const stopping = new AbortController();

  const note = (what: string, asked: Asked): void => {
    const word = wordOf(asked);
    trouble.set(word, (trouble.get(word) ?? 0) + 1);
    if (asked.kind === "answered" && asked.status !== 503) wrong.push(`${what} was answered ${word}`);
  };
  const asking = async (...request: Parameters<typeof ask>): Promise<Asked> => {
    const begunAt = performance.now();
    const asked = await ask(...request);
    const at = performance.now();
    told.push({ word: wordOf(asked), isOfPost: request[0] === "POST", at, afterMs: at - begunAt });
    return asked;
  };

  const waiting = (): number =>
    accepted.reduce((sum, { recipients, refused }) => sum + recipients.length - refused.size, 0) -
    mailServer.mails.length;

  /** Goes to another API process where one does not accept the job, and rests after the last of them. */
  const post = async (name: string, index: number, { recipientsPerJob, maxAttempts }: LoadShape): Promise<void> => {
    const recipients = recipientsOf(`${name}-${index}`, recipientsPerJob);
    const refused = new Set(recipientsPerJob > refusedPerJob ? recipients.slice(-refusedPerJob) : []);
    for (const address of refused) mailServer.answerRecipient(address, { code: 550, text: "5.1.1 no such user" });
    const mailing = { subject: `Fault ${purpose}`, body: "text", recipients, maxAttempts };
    const key = { ...headers, "Idempotency-Key": randomUUID() };
    const deadline = Date.now() + giveUpAfterMs;
    for (let tries = index; Date.now() < deadline; tries += 1) {
      const urls = apiUrls();
      const asked = await asking("POST", `${urls[tries % urls.length]}/api/jobs`, mailing, key);
      if (asked.kind === "answered" && asked.status === 201) {
        const { jobId } = asked.body as { jobId: string };
        accepted.push({ jobId, recipients, refused });
        return await look(jobId, urls[(tries + 1) % urls.length] ?? "");
      }
      note("POST", asked);
      if ((tries + 1 - index) % urls.length === 0) await pause(againMs);
    }
    wrong.push(`a POST was not accepted within ${giveUpAfterMs} ms`);
  };

  /** What was accepted can be seen at once, at any API process, from the read model or from the log. */
  const look = async (jobId: string, url: string): Promise<void> => {
    const asked = await asking("GET", `${url}/api/jobs/${jobId}`, undefined, headers);
    if (asked.kind !== "answered" || asked.status !== 200) note("GET after 201", asked);
  };

  const run = async (shape: LoadShape): Promise<void> => {
    const name = `${toSlug(purpose)}-${shape.recipientsPerJob}`;
    const posting = new Set<Promise<void>>();
    for (let index = 0; index < shape.jobs && !stopping.signal.aborted; index += 1) {
      const posted = post(name, index, shape).finally(() => posting.delete(posted));
      posting.add(posted);
      if (shape.everyMs > 0) await pause(shape.everyMs, undefined, { signal: stopping.signal }).catch(() => {});
      while (posting.size >= (shape.clients ?? Number.POSITIVE_INFINITY)) await Promise.race(posting);
      while (waiting() > (shape.mostWaiting ?? Number.POSITIVE_INFINITY) && !stopping.signal.aborted)
        await pause(againMs);
    }
    await Promise.all(posting);
  };
  const running = Promise.all(shapes.map(run));

  return {
    accepted,
    adopt: (job) => void accepted.push(job),
    told,
    trouble,
    wrong,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

const wordOf = (asked: Asked): string => (asked.kind === "answered" ? String(asked.status) : asked.code);

const toSlug = (name: string): string =>
  `${name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 34)}-${Date.now().toString(36)}`;

const recipientsOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}@example.com`);
