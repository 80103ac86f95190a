import { randomUUID } from "node:crypto";
import { eventually } from "../support/eventually.ts";
import { ask } from "./ask.ts";
import { type Cell, type Fault, lasting } from "./fault.ts";
import { fromNowOn, type RawEvent } from "./log-reader.ts";
import { drawn } from "./seeded.ts";
import { type Stage, usualMsPerMail } from "./stage.ts";
import { addressesOf, draftMailing, eventsOf, importAll, insist, partsIn } from "./staged-mailings.ts";

/** Several schedules have the same minute: so many kills strike what they make, the first of them around that minute. */
const waves = 4;
const killsPerWave = 5;
const mailingsPerWave = 4;
const recipients = 10;
const kills = waves * killsPerWave;
const name = `${kills} kills of the scheduler while schedules fire`;

/** Between the scheduler and NATS, so that a firing has a beginning and an end. */
const slowness = { latencyMs: 15, bytesPerSecond: Number.POSITIVE_INFINITY };
/** So long before the minute begins the schedules are made, which takes some seconds on a busy machine. */
const madeBeforeMs = 20_000;
const minuteMs = 60_000;
const [firstKillMs, lastKillMs] = [-300, 1500];
/** Every other kill comes right after a step of the log, the others on the way to the next one. */
const afterStepMs = [20, 150] as const;
const withinMs = 120_000;

/** A schedule that fires once, and what it makes. */
type Story = {
  readonly scheduleId: string;
  readonly makes: "job" | "mailing";
  readonly recipients: readonly string[];
};

/** The steps of a story, in this order. */
const stepsOf = {
  job: ["ScheduleFired", "JobCreated"],
  mailing: ["ScheduleFired", "MailingCreated", "MailingPartsAdded", "MailingStarted", "JobCreated"],
} as const;

const stepsOfWave = stepsOf.job.length + mailingsPerWave * stepsOf.mailing.length;

/** The first minute for which schedules can be there in time. */
const dueTime = (): number => Math.ceil((Date.now() + madeBeforeMs) / minuteMs) * minuteMs;

/** In the minute that it names, and a year later. */
function cronAt(due: number): string {
  const time = new Date(due);
  return [time.getUTCMinutes(), time.getUTCHours(), time.getUTCDate(), time.getUTCMonth() + 1, "*"].join(" ");
}

/** What a schedule is to make, where its recipients are there already. */
type Prepared = Omit<Story, "scheduleId"> & { readonly name: string; readonly template: object };

const letter = { subject: "Fired", body: "Dear all", maxAttempts: 20 };

async function prepare(stage: Stage, slug: string, makes: Story["makes"]): Promise<Prepared> {
  const people = addressesOf(slug, recipients);
  const prepared = { name: slug, makes, recipients: people };
  if (makes === "job") return { ...prepared, template: { job: { ...letter, recipients: people } } };
  const mailingId = await draftMailing(stage, letter);
  const lines = people.map((email) => JSON.stringify(email));
  const faulty = await importAll(stage, { mailingId }, lines);
  if (faulty > 0) throw new Error(`${faulty} recipients of ${slug} are faulty`);
  return { ...prepared, template: { mailing: { ...letter, recipientsOf: mailingId } } };
}

async function schedule(stage: Stage, due: number, { template, ...story }: Prepared): Promise<Story> {
  const request = { name: story.name, cron: cronAt(due), catchUp: "one", ...template };
  const key = { ...stage.headers, "Idempotency-Key": randomUUID() };
  const { id } = await insist<{ readonly id: string }>(stage, "/schedules", request, key);
  return { ...story, scheduleId: id };
}

/** All events of the schedule, of the mailing, and of the jobs that it has made. */
function ownEvents(log: readonly RawEvent[], { scheduleId }: Story): readonly RawEvent[] {
  const own = eventsOf(log, { mailingId: scheduleId });
  const made = own.flatMap(({ type, data }) => (type === "ScheduleFired" ? [String(data["madeId"])] : []));
  const ofMade = made.flatMap((mailingId) => eventsOf(log, { mailingId }));
  const parts = partsIn(ofMade).flatMap(({ jobId }) => eventsOf(log, { mailingId: jobId }));
  return [...own, ...ofMade, ...parts];
}

function stepsIn(log: readonly RawEvent[], stories: readonly Story[]): readonly RawEvent[] {
  const known = new Set<string>(Object.values(stepsOf).flat());
  return stories
    .flatMap((story) => ownEvents(log, story))
    .filter(({ type }) => known.has(type))
    .sort((one, other) => one.sequence - other.sequence);
}

async function untilSteps(stage: Stage, stories: readonly Story[], count: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const known = await stage.log.read();
    const steps = stepsIn(known, stories).length;
    if (steps >= count) return;
    if (performance.now() > deadline) {
      const found = stories.map((story) =>
        stepsIn([...known], [story])
          .map(({ type }) => type)
          .join(),
      );
      const output = stage.actors.scheduler.output().slice(-2000);
      throw new Error(`${steps} of ${count} steps of the schedules were taken: ${found.join("; ")}. ${output}`);
    }
    await lasting(1);
  }
}

/** Answers what was seen last when each of the kills struck. */
async function strikeWave(stage: Stage, { seed }: Cell, wave: number, slug: string): Promise<[Story[], string[]]> {
  const { scheduler } = stage.actors;
  const of = Array.from({ length: mailingsPerWave }, (_, index) => `${slug}-${wave}-${index}`);
  const prepared = await Promise.all([
    prepare(stage, `${slug}-${wave}-job`, "job"),
    ...of.map((one) => prepare(stage, one, "mailing")),
  ]);
  const due = dueTime();
  const stories = await Promise.all(prepared.map((one) => schedule(stage, due, one)));
  const lateMs = Date.now() - (due + firstKillMs);
  if (lateMs > 0) throw new Error(`the schedules of wave ${wave} were there ${lateMs} ms late`);
  const around = firstKillMs + drawn(seed, `${name} ${wave}`) * (lastKillMs - firstKillMs);
  await lasting(due - Date.now() + around);
  const seen = [await kill()];
  for (let times = 1; times < killsPerWave; times += 1) {
    const taken = stepsIn(await stage.log.read(), stories).length;
    const draw = drawn(seed, `${name} ${wave} ${times}`);
    const wanted = Math.floor(((times - 1 + draw) / (killsPerWave - 1)) * stepsOfWave);
    await scheduler.start();
    await untilSteps(stage, stories, Math.min(stepsOfWave, Math.max(wanted, taken + 1)));
    await lasting(drawn(seed, `${name} ${wave} after ${times}`) * (afterStepMs[times % 2] ?? 0));
    seen.push(await kill());
  }
  await scheduler.start();
  await untilSteps(stage, stories, stepsOfWave);
  return [stories, seen];

  async function kill(): Promise<string> {
    await scheduler.kill();
    const steps = stepsIn(await stage.log.read(), stories);
    return `${steps.length} steps`;
  }
}

/** What it made is to be mailed as the jobs of the load are. */
function adopt(log: readonly RawEvent[], story: Story, cell: Cell): void {
  const created = ownEvents(log, story).filter(({ type }) => type === "JobCreated");
  for (const { jobId } of created) cell.adopt({ jobId, recipients: story.recipients, refused: new Set() });
}

async function violationsOf(stage: Stage, story: Story): Promise<readonly string[]> {
  const events = await eventually(async () => {
    const found = ownEvents(await stage.log.read(), story);
    const end = story.makes === "job" ? "JobCompleted" : "MailingCompleted";
    if (!found.some(({ type }) => type === end)) throw new Error(`what ${story.scheduleId} made did not end`);
    return found;
  }, withinMs);
  const steps = stepsIn(events, [story]).map(({ type }) => type);
  const ofSchedule = events.filter(({ type }) => type.startsWith("Schedule")).map(({ type }) => type);
  const url = `${stage.apiUrls()[0]}/api/schedules/${story.scheduleId}/firings`;
  const asked = await ask("GET", url, undefined, { ...stage.headers });
  const { data = [] } = (asked.kind === "answered" ? asked.body : {}) as { readonly data?: readonly object[] };
  const made = events.find(({ type }) => type === "ScheduleFired")?.data["madeId"];
  const isListed = data.length === 1 && JSON.stringify(data).includes(`"${made}"`);
  const what = `schedule ${story.scheduleId}`;
  return [
    ...(steps.join() === stepsOf[story.makes].join() ? [] : [`${what}: ${steps.join()}`]),
    ...(ofSchedule.join() === "ScheduleCreated,ScheduleFired" ? [] : [`${what}: ${ofSchedule.join()}`]),
    ...(isListed ? [] : [`the firings of ${what} are ${JSON.stringify(asked)}`]),
  ];
}

/** All mailings that were made since: a firing that was taken twice would leave a draft behind. */
function strangeMailings(log: readonly RawEvent[], stories: readonly Story[]): readonly string[] {
  const mailings = stories.filter(({ makes }) => makes === "mailing").length;
  // Each has a source, which is never started.
  const created = log.filter(({ type }) => type === "MailingCreated").length;
  return created === 2 * mailings ? [] : [`${mailings} firings made ${created - mailings} mailings`];
}

/**
 * Schedules fire once, each in a minute of its own wave, and the scheduler, which also makes their mailings and the parts of
 * these, is killed before, between and after the steps.
 */
export const scheduleKills: Fault = {
  name,
  load: { recipientsPerJob: 20, everyMs: 400, jobs: 1000 },
  endWithinMs: 180_000,
  strike: async (wholeStage, cell) => {
    const stage = await fromNowOn(wholeStage);
    stage.mailServer.slowDown(2);
    const slug = `fired-${Date.now().toString(36)}`;
    const stories: Story[] = [];
    const seen: string[] = [];
    stage.links.scheduler.nats.slowDown(slowness);
    for (let wave = 0; wave < waves; wave += 1) {
      const [ofWave, killedAt] = await strikeWave(stage, cell, wave, slug);
      stories.push(...ofWave);
      seen.push(killedAt.join(", "));
    }
    await stage.links.scheduler.nats.restore();
    const log = await stage.log.read();
    for (const story of stories) adopt(log, story, cell);
    return {
      mayDouble: 0,
      struck: `struck after ${seen.join("; ")} of ${stepsOfWave}`,
      alsoViolated: async () => {
        stage.mailServer.slowDown(usualMsPerMail);
        const found: string[] = [];
        for (const story of stories) found.push(...(await violationsOf(stage, story)));
        return [...found, ...strangeMailings(await stage.log.read(), stories)];
      },
    };
  },
};
