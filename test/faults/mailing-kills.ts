import { eventually } from "../support/eventually.ts";
import { type Cell, type Fault, lasting } from "./fault.ts";
import { fromNowOn, type RawEvent } from "./log-reader.ts";
import { drawn } from "./seeded.ts";
import { type Actor, type Stage, usualMsPerMail } from "./stage.ts";
import {
  addressesOf,
  draftMailing,
  eventsOf,
  faultsOfEvidence,
  importAll,
  insist,
  partsIn,
} from "./staged-mailings.ts";

const kills = 20;
/** Some of them come before the first step and after the last one. */
const [firstKill, lastKill] = [-0.05, 1.15];
/** So long after a step, or at once: half of the kills wait for a step of the log, and half for a moment. */
const longestAfterStepMs = 20;
/** Little, so that mails of the mailings do not wait long. */
const load = { recipientsPerJob: 20, everyMs: 400, jobs: 1000 };
const endedWithinMs = 60_000;

/** A mailing, and what must be true of it in the end. */
type Story = {
  readonly mailingId: string;
  readonly recipients: readonly string[];
  /** The steps that the log must have, each once, in this order, between its parts and its end. */
  readonly decisions: readonly string[];
};

type Killed = {
  readonly name: string;
  readonly stage?: Fault["stage"];
  readonly victims: readonly Actor[];
  /** What is there before the clock runs. */
  readonly prepare: (stage: Stage, name: string) => Promise<Story>;
  /** What people do, again and again until it is answered. Killed within the time that it takes undisturbed. */
  readonly act: (stage: Stage, story: Story) => Promise<void>;
};

/** Twenty mailings one after the other; a process is killed once in each, at moments that are spread over all of it. */
const killing = (killed: Killed): Fault => ({
  name: killed.name,
  load,
  ...(killed.stage && { stage: killed.stage }),
  endWithinMs: 180_000,
  strike: async (wholeStage, cell) => {
    const stage = await fromNowOn(wholeStage);
    stage.mailServer.slowDown(2);
    const slug = `${killed.victims.join("-")}-${Date.now().toString(36)}`;
    const undisturbed = await killed.prepare(stage, `${slug}-undisturbed`);
    const course = await follow(stage, killed, undisturbed);
    const stories = [undisturbed];
    const struck = new Map<string, number>();
    for (let kill = 0; kill < kills; kill += 1) {
      const story = await killed.prepare(stage, `${slug}-${kill}`);
      const seen = await killOnce(stage, cell, killed, { story, course, kill });
      struck.set(seen, (struck.get(seen) ?? 0) + 1);
      stories.push(story);
    }
    for (const story of stories) await untilInLog(stage, story);
    const log = await stage.log.read();
    for (const story of stories) adoptParts(log, story, cell);
    return {
      mayDouble: 0,
      struck: `struck after ${[...struck].map(([seen, count]) => `${count}× ${seen}`).join(", ")}`,
      alsoViolated: async () => {
        stage.mailServer.slowDown(usualMsPerMail);
        const found: string[] = [];
        for (const story of stories) found.push(...(await violationsOf(stage, story)));
        return found;
      },
    };
  },
});

/** How it goes where no process is killed. */
type Course = { readonly lastsMs: number; readonly stepsBefore: number; readonly steps: number };

async function follow(stage: Stage, { victims, act }: Killed, story: Story): Promise<Course> {
  const stepsBefore = stepsIn(await stage.log.read(), story).length;
  const startedAt = performance.now();
  await act(stage, story);
  // The api has no hand in the parts.
  if (victims.includes("scheduler")) await untilInLog(stage, story);
  const lastsMs = performance.now() - startedAt;
  return { lastsMs, stepsBefore, steps: stepsIn(await stage.log.read(), story).length - stepsBefore };
}

type Kill = { readonly story: Story; readonly course: Course; readonly kill: number };

/** Answers what the log said last at that moment. */
async function killOnce(stage: Stage, { seed }: Cell, { name, victims, act }: Killed, at: Kill): Promise<string> {
  const { story, course, kill } = at;
  const share = (kill + drawn(seed, `${name} ${kill}`)) / kills;
  const afterMs = (firstKill + share * (lastKill - firstKill)) * course.lastsMs;
  const victim = stage.actors[victims[Math.floor(drawn(seed, `${name} victim ${kill}`) * victims.length)] ?? "api"];
  const acting = afterMs < 0 ? null : act(stage, story);
  // Reported once it is waited for.
  acting?.catch(() => {});
  if (acting !== null && kill % 2 === 0) await lasting(afterMs);
  if (acting !== null && kill % 2 === 1) {
    await untilSteps(stage, story, course.stepsBefore + Math.floor(share * (course.steps + 1)));
    await lasting(drawn(seed, `${name} after ${kill}`) * longestAfterStepMs);
  }
  await victim.kill();
  const seen = lastSeen(await stage.log.read(), story);
  await victim.start();
  await (acting ?? act(stage, story));
  return seen;
}

/** What decides what becomes of it: the imports, the decisions, and the parts that are jobs. */
function stepsIn(log: readonly RawEvent[], story: Story): readonly RawEvent[] {
  const own = eventsOf(log, story);
  const parts = new Set(partsIn(own).map(({ jobId }) => jobId));
  const decided = own.filter(({ type }) => type === "MailingPartsAdded" || story.decisions.includes(type));
  return [...decided, ...log.filter(({ type, jobId }) => type === "JobCreated" && parts.has(jobId))];
}

const untilSteps = async (stage: Stage, story: Story, count: number): Promise<void> => {
  const deadline = performance.now() + endedWithinMs;
  while (stepsIn(await stage.log.read(), story).length < count) {
    if (performance.now() > deadline) throw new Error(`mailing ${story.mailingId} did not come to step ${count}`);
    await lasting(1);
  }
};

/** What the log says happened last, and how often it had by then. */
function lastSeen(log: readonly RawEvent[], story: Story): string {
  const types = stepsIn(log, story).map(({ type }) => type);
  const last = types.at(-1);
  if (last === undefined) return "nothing";
  const times = types.filter((type) => type === last).length;
  return `${last}${times > 1 ? ` ${times}` : ""}`;
}

/** All that people have decided, and what follows at once: the parts are jobs. */
const untilInLog = (stage: Stage, story: Story): Promise<void> =>
  eventually(async () => {
    const log = await stage.log.read();
    const missing = partsIn(eventsOf(log, story)).filter(
      (part) => !log.some(({ type, jobId }) => type === "JobCreated" && jobId === part.jobId),
    );
    if (missing.length > 0) throw new Error(`${missing.length} parts of ${story.mailingId} were not made`);
  }, endedWithinMs);

/** Recipients are in the parts in the order of their file. */
function adoptParts(log: readonly RawEvent[], story: Story, cell: Cell): void {
  let first = 0;
  for (const { jobId, recipients } of partsIn(eventsOf(log, story))) {
    cell.adopt({ jobId, recipients: story.recipients.slice(first, first + recipients), refused: new Set() });
    first += recipients;
  }
}

async function violationsOf(stage: Stage, story: Story): Promise<readonly string[]> {
  const events = await eventually(async () => {
    const found = eventsOf(await stage.log.read(), story);
    if (!found.some(({ type }) => type === "MailingCompleted")) throw new Error(`${story.mailingId} did not end`);
    return found;
  }, endedWithinMs);
  const log = await stage.log.read();
  const decided = events.map(({ type }) => type).filter((type) => !/^Mailing(Parts|Created|Completed)/.test(type));
  const added = partsIn(events).reduce((sum, { recipients }) => sum + recipients, 0);
  const count = (wanted: string): number => events.filter(({ type }) => type === wanted).length;
  const parts = new Set(partsIn(events).map(({ jobId }) => jobId));
  const lastDecision = events.findLast(({ type }) => type === story.decisions.at(-1))?.sequence ?? 0;
  const early = log.filter((event) => parts.has(event.jobId) && event.sequence < lastDecision).length;
  const counts = events.findLast(({ type }) => type === "MailingCompleted")?.data["counts"] as { sent?: number };
  const what = `mailing ${story.mailingId}`;
  return [
    ...(decided.join() === story.decisions.join() ? [] : [`${what}: ${decided.join()}`]),
    ...(added === story.recipients.length ? [] : [`${what} has ${added} of ${story.recipients.length} recipients`]),
    ...(count("MailingCreated") === 1 && count("MailingCompleted") === 1 ? [] : [`${what} was created or ended twice`]),
    ...(counts.sent === added ? [] : [`${what} ended with ${JSON.stringify(counts)}`]),
    ...(early === 0 ? [] : [`${what} has ${early} events of parts before it might go out`]),
    ...(await faultsOfEvidence(stage, story)),
  ];
}

/** So much of each that a part holds few, and many parts are stored in two or three decisions. */
const padding = "x".repeat(30_000);
const imported = 560;

const importLines = (recipients: readonly string[]): readonly string[] =>
  recipients.flatMap((email, index) => {
    const line = JSON.stringify({ email, variables: { name: email, padding } });
    const again = JSON.stringify({ email: recipients[index >> 1]?.toUpperCase(), variables: { name: "again" } });
    return [line, ...(index % 20 === 7 ? [again] : []), ...(index % 100 === 3 ? ['"no address"'] : [])];
  });

/** Three parts of few recipients, as each import makes a part. */
async function inThreeParts(stage: Stage, name: string, request: object): Promise<Omit<Story, "decisions">> {
  const mailingId = await draftMailing(stage, request);
  const recipients = addressesOf(name, 30);
  for (const part of [0, 1, 2]) {
    const some = recipients.slice(part * 10, part * 10 + 10);
    const lines = some.map((email) => JSON.stringify({ email, variables: { name: email } }));
    await importAll(stage, { mailingId }, lines);
  }
  return { mailingId, recipients };
}

export const mailingKills: readonly Fault[] = [
  killing({
    name: `${kills} kills of the api while recipients are imported`,
    victims: ["api"],
    prepare: async (stage, name) => ({
      mailingId: await draftMailing(stage),
      recipients: addressesOf(name, imported),
      decisions: ["MailingStarted"],
    }),
    act: async (stage, story) => {
      await importAll(stage, story, importLines(story.recipients));
      await insist(stage, `/mailings/${story.mailingId}/start`, {});
    },
  }),
  killing({
    name: `${kills} kills of api or scheduler around a start`,
    victims: ["api", "scheduler"],
    prepare: async (stage, name) => ({
      ...(await inThreeParts(stage, name, { undoFor: 1 })),
      decisions: ["MailingStarted", "MailingReleased"],
    }),
    act: async (stage, { mailingId }) => {
      for (let times = 0; times < 3; times += 1) await insist(stage, `/mailings/${mailingId}/start`, {});
    },
  }),
  killing({
    name: `${kills} kills of api or scheduler around an approval`,
    stage: { needsKeys: true },
    victims: ["api", "scheduler"],
    prepare: async (stage, name) => {
      // One that nobody approves: no part of it may be made.
      const { mailingId } = await inThreeParts(stage, `${name}-never`, { approval: "required" });
      await insist(stage, `/mailings/${mailingId}/start`, {});
      return {
        ...(await inThreeParts(stage, name, { approval: "required" })),
        decisions: ["MailingApprovalRequested", "MailingApproved", "MailingStarted"],
      };
    },
    act: async (stage, { mailingId }) => {
      const asked = () => insist(stage, `/mailings/${mailingId}/start`, {});
      await asked();
      const { approval } = await asked();
      const approve = () =>
        insist(stage, `/mailings/${mailingId}/approve`, { digest: approval?.digest }, stage.people.approver);
      await approve();
      await approve();
    },
  }),
];
