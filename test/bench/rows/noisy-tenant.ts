import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { subjectsOfDecisions } from "../../../src/event-log/subjects.ts";
import { openAccess } from "../../support/access.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, storedKey } from "../../support/keys.ts";
import { type Deployment, separateProcessesWith } from "../deployment.ts";
import type { Measurement, Stage } from "../row.ts";
import { startSink } from "../sink/start-sink.ts";
import { startWaybill } from "../start-waybill.ts";
import { percentile } from "../statistics.ts";
import { mailing } from "../the-mail.ts";
import { toText } from "../wording.ts";

const workers = 8;
/** So slow that not the cores decide who is served, but the order of the jobs. */
const msPerMail = 100;
const mailings = 10_000;
const recipientsPerMailing = 100;
const clients = 16;
const singleMails = 40;
const betweenMs = 500;
const againMs = 250;

/** How long one tenant's single mail takes while another tenant has thousands of mailings waiting. */
export const noisyTenant: Measurement = {
  name: "a single mail beside 10,000 mailings of another tenant",
  timeoutMs: 900_000,
  measure: ({ onFreshServers }) =>
    onFreshServers(async (stage) => {
      const sink = await startSink(stage.lifecycle, msPerMail);
      const { deployment } = await startWaybill(stage, sink, separateProcessesWith(workers));
      const { noisy, quiet } = await makeKeys(deployment);
      const alone = await mailSingly(stage, deployment, quiet);
      const posting = await postMailings(deployment, noisy);
      const beside = await mailSingly(stage, deployment, quiet);
      return {
        figures: [
          {
            what: "from POST to sent, longest, ms",
            cold: null,
            warm: Math.max(...beside),
            targets: { warm: { atMost: 2000 } },
          },
          { what: "from POST to sent, p50, ms", cold: null, warm: percentile(beside, 50), targets: {} },
        ],
        notes: [
          `8 workers, ${msPerMail} ms a mail; ${toText(mailings)} mailings of ${recipientsPerMailing} posted in ${toText(posting)} s`,
          `${singleMails} mails one after the other; without the mailings p50 ${toText(percentile(alone, 50))} ms, longest ${toText(Math.max(...alone))} ms`,
        ],
        rounds: { alone, beside, posting },
      };
    }),
};

/** Answers once the API asks for a key: until it has heard of the first one, every caller is the same tenant. */
async function makeKeys({ surroundings, url }: Deployment) {
  const access = await openAccess(surroundings.nats);
  try {
    const noisy = await storedKey(access.store, { tenant: "noisy" });
    const quiet = await storedKey(access.store, { tenant: "quiet" });
    await eventually(async () => {
      const { status } = await fetch(`${url}/api/jobs`);
      if (status !== 401) throw new Error(`A caller without a key was answered ${status}`);
    });
    return { noisy: noisy.text, quiet: quiet.text };
  } finally {
    await access.close();
  }
}

/** As an application does: under the same key until it is answered 201. */
async function post({ url }: Deployment, key: string, recipients: number): Promise<void> {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID(), ...bearer(key) };
  const body = JSON.stringify(mailing(recipients));
  for (;;) {
    const answer = await fetch(`${url}/api/jobs`, { method: "POST", headers, body });
    const text = await answer.text();
    if (answer.status === 201) return;
    if (answer.status !== 503) throw new Error(`The job was answered ${answer.status}: ${text}`);
    await pause(againMs);
  }
}

/** Answers how many seconds it took. */
async function postMailings(deployment: Deployment, key: string): Promise<number> {
  const startedAt = performance.now();
  let posted = 0;
  const client = async (): Promise<void> => {
    for (posted += 1; posted <= mailings; posted += 1) await post(deployment, key, recipientsPerMailing);
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (performance.now() - startedAt) / 1000;
}

/** Answers the milliseconds of each mail, from its POST to the entry that says that its job has completed. */
async function mailSingly(
  { ground, lifecycle }: Stage,
  deployment: Deployment,
  key: string,
): Promise<readonly number[]> {
  const nats = await ground.connectNats(lifecycle);
  let completed = (): void => {};
  nats.subscribe(subjectsOfDecisions(deployment.surroundings.nats.prefix), {
    callback: (_, { subject, data }) => {
      if (subject.includes(".quiet.") && Buffer.from(data).includes("JobCompleted")) completed();
    },
  });
  await nats.flush();
  const times: number[] = [];
  for (let mail = 0; mail < singleMails; mail += 1) {
    const done = new Promise<void>((resolve) => {
      completed = resolve;
    });
    const postedAt = performance.now();
    await post(deployment, key, 1);
    await done;
    times.push(performance.now() - postedAt);
    await pause(betweenMs);
  }
  await nats.close();
  return times;
}
