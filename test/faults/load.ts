import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Asked, ask } from "./ask.ts";
import type { Stage } from "./stage.ts";

export type LoadShape = {
  readonly recipientsPerJob: number;
  /** Between two jobs; 0 posts all of them at once. */
  readonly everyMs: number;
  /** The load ends by itself after so many jobs. */
  readonly jobs: number;
  /** Instead of the many that the stage gives every job. */
  readonly maxAttempts?: number;
};

/** Some 130 mails a second, four fifths of what the two workers can send: both of them are busy all the time. */
export const steadyLoad: LoadShape = { recipientsPerJob: 40, everyMs: 300, jobs: 1000 };

/** A mailing whose POST was answered 201. */
export type AcceptedJob = {
  readonly jobId: string;
  /** By index, as the log names them. */
  readonly recipients: readonly string[];
  /** Those whom the mail server refuses for good. */
  readonly refused: ReadonlySet<string>;
};

export type Load = {
  readonly accepted: readonly AcceptedJob[];
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
export function startLoad({ actors, mailServer }: Stage, name: string, shape: LoadShape): Load {
  const accepted: AcceptedJob[] = [];
  const trouble = new Map<string, number>();
  const wrong: string[] = [];
  const posting: Promise<void>[] = [];
  const stopping = new AbortController();

  const note = (what: string, asked: Asked): void => {
    const word = asked.kind === "answered" ? String(asked.status) : asked.code;
    trouble.set(word, (trouble.get(word) ?? 0) + 1);
    if (asked.kind === "answered" && asked.status !== 503) wrong.push(`${what} was answered ${word}`);
  };

  const post = async (index: number): Promise<void> => {
    const recipients = recipientsOf(`${name}-${index}`, shape.recipientsPerJob);
    const refused = new Set(recipients.slice(-refusedPerJob));
    for (const address of refused) mailServer.answerRecipient(address, { code: 550, text: "5.1.1 no such user" });
    const { maxAttempts } = shape;
    const mailing = { subject: `Fault ${name}`, body: "text", recipients, maxAttempts };
    const key = { "Idempotency-Key": randomUUID() };
    for (const deadline = Date.now() + giveUpAfterMs; Date.now() < deadline; await pause(againMs)) {
      const asked = await ask("POST", `${actors.api.url()}/api/jobs`, mailing, key);
      if (asked.kind === "answered" && asked.status === 201) {
        const { jobId } = asked.body as { jobId: string };
        accepted.push({ jobId, recipients, refused });
        return await look(jobId);
      }
      note("POST", asked);
    }
    wrong.push(`a POST was not accepted within ${giveUpAfterMs} ms`);
  };

  /** What was accepted can be seen at once, from the read model or from the log. */
  const look = async (jobId: string): Promise<void> => {
    const asked = await ask("GET", `${actors.api.url()}/api/jobs/${jobId}`);
    if (asked.kind !== "answered" || asked.status !== 200) note("GET after 201", asked);
  };

  const run = async (): Promise<void> => {
    for (let index = 0; index < shape.jobs && !stopping.signal.aborted; index += 1) {
      posting.push(post(index));
      if (shape.everyMs > 0) await pause(shape.everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const running = run();

  return {
    accepted,
    trouble,
    wrong,
    stop: async () => {
      stopping.abort();
      await running;
      await Promise.all(posting);
    },
  };
}

const recipientsOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}@example.com`);
