import { randomUUID } from "node:crypto";
import { writeAgedStore } from "../bench/aged/write-aged-store.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { findNatsSource } from "../support/server-sources.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ask } from "./ask.ts";
import { CannotRunHere } from "./small-disk.ts";

/** Ended jobs in the store of a NATS that is yet to be started. */
export type Past = {
  readonly folder: string;
  readonly prefix: string;
  readonly jobs: number;
  readonly entries: number;
};

/** Some 10,000 jobs a second, and from 100,000 jobs on two minutes until NATS would have forgotten their ids. */
export async function writePast(jobs: number): Promise<Past> {
  const source = await findNatsSource();
  if (source.kind === "running") throw new CannotRunHere("NATS was running already, and its store is not ours to fill");
  const [folder, prefix] = [await temporaryFolder(), "past"];
  const { binary } = source;
  const started = (_: string, stop: () => Promise<void>): void => atEndOfRun(stop);
  const { messages } = await writeAgedStore({ folder, binary, prefix, jobs, some: 1 }, { started });
  return { folder, prefix, jobs, entries: messages };
}

/** What a service has that has made such a log: read models that hold it, and roles that do not look at it any more. */
export async function untilFollowed(apiUrl: string, { jobs }: Past): Promise<void> {
  const withinMs = 60_000 + jobs * 5;
  const key = { "Idempotency-Key": randomUUID() };
  // While all processes start beside a long log, a client may be told to ask again.
  const posted = await eventually(() => answerTo("POST", `${apiUrl}/api/jobs`, 201, firstOfToday, key), 60_000);
  const { jobId } = posted as { readonly jobId: string };
  await eventually(async () => {
    const { status } = (await answerTo("GET", `${apiUrl}/api/jobs/${jobId}`, 200)) as { readonly status: string };
    if (status !== "completed") throw new Error(`the first job is ${status}`);
  }, withinMs);
  await eventually(async () => {
    const { projections } = (await answerTo("GET", `${apiUrl}/api/stats`, 200)) as {
      readonly projections: Readonly<Record<string, { readonly lagEvents: number }>>;
    };
    const lag = Math.max(...Object.values(projections).map(({ lagEvents }) => lagEvents));
    if (lag > 0) throw new Error(`the read models are ${lag} entries behind`);
  }, withinMs);
}

const firstOfToday = { subject: "The first job of today", body: "text", recipients: ["first@example.com"] };

async function answerTo(
  method: string,
  url: string,
  status: number,
  body?: object,
  headers?: Record<string, string>,
): Promise<unknown> {
  const asked = await ask(method, url, body, headers);
  if (asked.kind === "answered" && asked.status === status) return asked.body;
  throw new Error(`${method} ${url}: ${JSON.stringify(asked)}`);
}
