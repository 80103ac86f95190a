import { setTimeout as pause } from "node:timers/promises";
import { subjectOf, subjectsOfDecisions } from "../../../src/event-log/subjects.ts";
import { type Deployment, separateProcesses } from "../deployment.ts";
import { decide, draftMailing, importFile, sentSoFar, shapeOf, validIn } from "../one-mailing.ts";
import { startBareLoop } from "../peers/start-peers.ts";
import { countingCpu } from "../process-usage.ts";
import type { Figure, Measurement, Stage } from "../row.ts";
import { runMailing } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { mailsOf } from "../sizes.ts";
import { startWaybill } from "../start-waybill.ts";
import { describeCpu, describePeaks, toText } from "../wording.ts";

const mostMailsOfBareLoop = 100_000;
const lookEveryMs = 500;
/** What no worker has sent by then, none will. */
const silenceMs = 10_000;

/** One mailing of parts that follow each other, beside jobs of the same size that are posted one by one. */
export const longMailing: Measurement = {
  name: "one long mailing",
  timeoutMs: 3_600_000,
  measure: ({ sizes, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const sink = await startSink(stage.lifecycle);
      const bareLoop = startBareLoop(stage.lifecycle);
      const waybill = await startWaybill(stage, sink, separateProcesses);
      const { deployment } = waybill;
      const shape = shapeOf(sizes.recipients);
      const mails = validIn(shape);
      const bareMails = Math.min(mails, mostMailsOfBareLoop);

      await runMailing(waybill, sizes.warmUp);
      const jobs = (await runMailing(waybill, sizes.mailing)).mailsPerSecond;
      const bare = bareMails / (await bareLoop.ask({ port: sink.port, mails: bareMails })).seconds;
      const whole = await draftMailing(deployment);
      await importFile(deployment, whole, shape);
      const { result: seconds, cpuMicros } = await countingCpu(deployment.pids, () =>
        untilEnded(stage, deployment, whole),
      );
      const perSecond = mails / seconds;

      const cancelled = await draftMailing(deployment);
      await importFile(deployment, cancelled, shape);
      const stopped = await cancelInTheMiddle(stage, deployment, cancelled, mails / 2);
      const figure = (what: string, warm: number, targets: Figure["targets"] = {}): Figure => ({
        what,
        cold: null,
        warm,
        targets,
      });
      return {
        figures: [
          figure("mails/s ÷ bare loop's", perSecond / bare, { warm: { atLeast: 2 } }),
          figure("mails/s ÷ mailings as jobs", perSecond / jobs, { warm: { atLeast: 0.9 } }),
          figure("mails/s", perSecond),
          figure("cancel to the last mail, s", stopped.seconds, { warm: { atMost: 2 } }),
        ],
        notes: [
          `${toText(mails)} mails; bare loop ${toText(bare)}/s; ${toText(mailsOf(sizes.mailing))} mails in jobs of ${sizes.mailing.recipientsPerJob}: ${toText(jobs)}/s`,
          `cancelled after ${toText(stopped.sent)} mails; ${toText(stopped.late)} entries with outcomes came after that`,
          describeCpu([{ cpuMicros, units: mails }], "mail"),
          describePeaks(deployment.pids),
        ],
        rounds: { perSecond, bare, jobs, stopped },
      };
    }),
};

/** Answers how many seconds passed from the start to the end. */
async function untilEnded({ ground, lifecycle }: Stage, deployment: Deployment, mailingId: string): Promise<number> {
  const nats = await ground.connectNats(lifecycle);
  const { prefix } = deployment.surroundings.nats;
  const subject = subjectOf(prefix, { tenant: "default", jobId: mailingId }, "mailing");
  const ended = new Promise<void>((resolve) => {
    nats.subscribe(subject, {
      callback: (_, message) => {
        if (Buffer.from(message.data).includes("MailingCompleted")) resolve();
      },
    });
  });
  await nats.flush();
  const startedAt = performance.now();
  await decide(deployment, mailingId, "start");
  await ended;
  return (performance.now() - startedAt) / 1000;
}

/** What is recorded of mails comes a moment after them, so the last one left no later than this. */
async function cancelInTheMiddle(
  { ground, lifecycle }: Stage,
  deployment: Deployment,
  mailingId: string,
  middle: number,
): Promise<{ readonly seconds: number; readonly sent: number; readonly late: number }> {
  const nats = await ground.connectNats(lifecycle);
  await decide(deployment, mailingId, "start");
  let sent = 0;
  while (sent < middle) {
    await pause(lookEveryMs);
    sent = await sentSoFar(deployment, mailingId);
  }
  let late = 0;
  let lastAt = performance.now();
  const cancelledAt = performance.now();
  nats.subscribe(`${subjectsOfDecisions(deployment.surroundings.nats.prefix)}.facts`, {
    callback: () => {
      late += 1;
      lastAt = performance.now();
    },
  });
  await decide(deployment, mailingId, "cancel");
  while (performance.now() - Math.max(lastAt, cancelledAt) < silenceMs) await pause(lookEveryMs);
  return { seconds: (lastAt - cancelledAt) / 1000, sent, late };
}
