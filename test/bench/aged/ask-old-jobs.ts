import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";

/** In ms, each job asked once and one after the other. */
export type OldJobs = {
  /** A pause, which is refused: whether a job may be paused, its last decision tells. */
  readonly decisions: ColdAndWarm<readonly number[]>;
  readonly histories: ColdAndWarm<readonly number[]>;
};

/** Each round asks jobs that no round before has asked. */
export async function askOldJobs(apiUrl: string, jobIds: readonly string[], rounds: number): Promise<OldJobs> {
  const left = [...jobIds];
  const atATime = Math.floor(jobIds.length / (2 * (rounds + 1)));
  const askEach = async (method: string, what: string, status: number): Promise<readonly number[]> => {
    const times: number[] = [];
    for (const jobId of left.splice(0, atATime))
      times.push(await ask(method, `${apiUrl}/api/jobs/${jobId}/${what}`, status));
    return times;
  };
  const noWarmUp = async (): Promise<void> => {};
  return {
    decisions: await coldAndWarm(rounds, () => askEach("POST", "pause", 409), noWarmUp),
    histories: await coldAndWarm(rounds, () => askEach("GET", "events", 200), noWarmUp),
  };
}

async function ask(method: string, url: string, status: number): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(url, { method });
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${method} ${url} was answered ${answer.status}: ${text}`);
  return performance.now() - startedAt;
}
