import { createTransport } from "nodemailer";
import { eventually } from "../support/eventually.ts";
import { ask } from "./ask.ts";
import { type Cell, costsNothing, type Fault, lasting } from "./fault.ts";
import type { LoadShape } from "./load.ts";
import { fromNowOn, type RawEvent } from "./log-reader.ts";
import { drawn, drawnBetween } from "./seeded.ts";
import type { Actor, Stage } from "./stage.ts";
import { returnPathOfStage } from "./staged-settings.ts";

const kills = 5;
const senders = 6;
/** Of the reports: those that are sent again although they were taken, as by a sender that had no answer. */
const sentTwice = 0.3;
const patienceMs = 8000;

/** Long enough for all kills, and light enough that the read models keep up: a report waits for the job that it is about. */
const loadOfReports: LoadShape = { recipientsPerJob: 10, everyMs: 300, jobs: 1000 };

/** A mail that was sent, and its address. */
type Sent = { readonly key: string; readonly returnPath: string; readonly email: string };

/** The token of a mail is its Message-ID as well. */
function sentIn(events: readonly RawEvent[], { accepted }: Cell): readonly Sent[] {
  const jobs = new Map(accepted().map(({ jobId, recipients }) => [jobId, recipients]));
  return events.flatMap(({ type, jobId, data }) => {
    const email = jobs.get(jobId)?.[Number(data["recipient"])];
    if (type !== "RecipientSent" || email === undefined) return [];
    const [, token] = /^<([0-9a-z]+)@/.exec(String(data["messageId"])) ?? [];
    const returnPath = returnPathOfStage.replace("@", `+${token}@`);
    return [{ key: `${jobId} ${data["recipient"]}`, returnPath, email }];
  });
}

const reportTo = ({ returnPath, email }: Sent): string =>
  [
    "From: MAILER-DAEMON@mx.example.com",
    `To: ${returnPath}`,
    "Subject: Undelivered Mail Returned to Sender",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    "",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.com",
    "",
    `Final-Recipient: rfc822; ${email}`,
    "Action: failed",
    "Status: 5.1.1",
    `Diagnostic-Code: smtp; 550 5.1.1 <${email}>: User unknown`,
    "",
    "--b--",
    "",
  ].join("\r\n");

/** Whether it was answered 250. */
async function send(port: number, sent: Sent): Promise<boolean> {
  const timeouts = { connectionTimeout: patienceMs, greetingTimeout: patienceMs, socketTimeout: patienceMs };
  const transport = createTransport({ host: "127.0.0.1", port, secure: false, ignoreTLS: true, ...timeouts });
  try {
    await transport.sendMail({ envelope: { from: "", to: sent.returnPath }, raw: reportTo(sent) });
    return true;
  } catch {
    return false;
  } finally {
    transport.close();
  }
}

/** Reports the mails of the cell, one after the other, each until it is taken, while something dies again and again. */
async function reportWhile(
  stage: Stage,
  cell: Cell,
  happens: (taken: () => number) => Promise<void>,
): Promise<{ readonly taken: ReadonlyMap<string, Sent>; readonly refusals: number }> {
  const taken = new Map<string, Sent>();
  const begun = new Set<string>();
  let isOver = false;
  let refusals = 0;
  let reading = stage.log.read();
  const next = async (): Promise<Sent | undefined> => {
    // One after the other: two at a time would read the same events twice.
    reading = reading.then(() => stage.log.read());
    return sentIn(await reading, cell).find(({ key }) => !begun.has(key));
  };
  const sendSome = async (): Promise<void> => {
    while (!isOver) {
      const sent = await next();
      if (sent === undefined) {
        await lasting(100);
        continue;
      }
      if (begun.has(sent.key)) continue;
      begun.add(sent.key);
      while (!(await send(stage.bouncesPort, sent))) {
        refusals += 1;
        await lasting(200);
      }
      taken.set(sent.key, sent);
      if (drawn(cell.seed, `again ${sent.key}`) < sentTwice) await send(stage.bouncesPort, sent);
    }
  };
  const sending = Promise.all(Array.from({ length: senders }, sendSome));
  await happens(() => taken.size);
  isOver = true;
  await sending;
  return { taken, refusals };
}

/** Whoever was reported is on the list in the end, with the event that caused it. */
async function unsuppressed(stage: Stage, taken: readonly Sent[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { key, email } of taken) {
    const [jobId = "", recipient] = key.split(" ");
    const look = async (): Promise<void> => {
      const asked = await ask("GET", `${stage.apiUrls()[0]}/api/suppressions?email=${email}`);
      const { data } = (asked.kind === "answered" ? asked.body : { data: [] }) as { data: { event?: string }[] };
      if (data[0]?.event !== `${jobId}:${recipient}:hard`) throw new Error(`${email} is not suppressed`);
    };
    await eventually(look, 30_000).catch(() => void missing.push(`${email} bounced, and is not suppressed for it`));
  }
  return missing;
}

/** Each report that was answered 250 is recorded once, and nothing is recorded that was not reported. */
function wronglyRecorded(events: readonly RawEvent[], taken: ReadonlyMap<string, Sent>): readonly string[] {
  const recorded = new Map<string, number>();
  for (const { type, jobId, data } of events) {
    const key = `${jobId} ${data["recipient"]}`;
    if (type === "RecipientBounced") recorded.set(key, (recorded.get(key) ?? 0) + 1);
  }
  const lost = [...taken.keys()].filter((key) => !recorded.has(key)).map((key) => `the report of ${key} is lost`);
  const more = [...recorded].filter(([key, times]) => times !== 1 || !taken.has(key));
  return [...lost, ...more.map(([key, times]) => `${key} bounced ${times} times, reported: ${taken.has(key)}`)];
}

const reportFault = (victim: Actor): Fault => ({
  name: `SIGKILL of the ${victim} while mails come back, ${kills} times`,
  load: loadOfReports,
  endWithinMs: 180_000,
  strike: async (wholeStage, cell) => {
    const stage = await fromNowOn(wholeStage);
    const { taken, refusals } = await reportWhile(stage, cell, async (count) => {
      for (let times = 0; times < kills; times += 1) {
        const enough = count() + drawnBetween(cell.seed, `kill ${times}`, 3, 30);
        await eventually(() => {
          if (count() < enough) throw new Error(`${count()} of ${enough} reports were taken`);
        }, 60_000);
        await stage.actors[victim].kill();
        await stage.actors[victim].start();
      }
    });
    return {
      ...costsNothing,
      struck: `${taken.size} reports taken, ${refusals} tries not`,
      alsoViolated: async () => [
        ...(taken.size > 0 ? [] : ["no report was taken"]),
        ...wronglyRecorded(await stage.log.read(), taken),
        ...(await unsuppressed(stage, [...taken.values()])),
      ],
    };
  },
});

/** The process that takes reports, and the one that follows them, die under load. */
export const reportFaults: readonly Fault[] = [reportFault("bounces"), reportFault("scheduler")];
