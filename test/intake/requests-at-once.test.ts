import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import type { ContentStore } from "../../src/content/content-store.ts";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { eraseJob } from "../../src/erasure/erase-job.ts";
import { eraseLeftover } from "../../src/erasure/erase-leftovers.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { acceptJob } from "../../src/intake/accept-job.ts";
import { jobIdInsteadOf } from "../../src/intake/derived-job-id.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { createChance } from "../simulation/chance.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { cancelJob, now, settings } from "../support/examples.ts";
import { type Actor, play, playAll } from "../support/interleavings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";
import { exampleContent } from "../support/write-side.ts";

const job = { tenant: "default", jobId: "job-of-the-key" };
const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };

const bytes = Buffer.from("an invoice");
const attachment = { sha256: digestOf(bytes), bytes };

/** What a request with the one idempotency key asks for. */
const draftOf = (subject: string) => {
  const named = { filename: "a.txt", contentType: "text/plain", contentId: null, size: bytes.length };
  const content = encodeContent({
    ...exampleContent,
    subject,
    recipients: [{ email: "ada@example.com" }],
    attachments: [{ ...named, sha256: attachment.sha256 }],
  });
  return {
    job,
    content,
    attachments: [attachment],
    settings: { ...settings, total: 1, contentSha256: digestOf(content), requestSha256: digestOf(subject) },
  };
};

/** The job of the key, and those that stand for it where it is abandoned. */
const ids = (): readonly JobRef[] => {
  const second = { ...job, jobId: jobIdInsteadOf(job) };
  return [job, second, { ...job, jobId: jobIdInsteadOf(second) }];
};

/** A world of its own for each way in which things can go. */
function createWorld() {
  const log = createMemoryEventLog();
  const contents = createMemoryContentStore();
  const answers: { readonly subject: string; readonly job: JobRef | null }[] = [];
  const portsBy = (step: Step) => ({
    log: logBy(log, step),
    contentStore: contentsBy(contents, step),
    results: createMemoryResultStore(),
    outbox: emptyOutbox,
    suppressions: createSuppressionList(createMemorySuppressionStore()),
  });
  const at = now;
  const leftOver = { reason: "left over", cause, at };

  const post =
    (subject: string): Actor =>
    async (step) => {
      const own = portsBy(step);
      const outcome = await acceptJob(own.log, own.contentStore, draftOf(subject), cause, at);
      answers.push({ subject, job: outcome.outcome === "accepted" ? outcome.job : null });
    };
  /** Ends the job of the key, and erases what it was about. */
  const erase: Actor = async (step) => {
    const own = portsBy(step);
    await handleCommand(own.log, job, cancelJob(), cause);
    await eraseJob(own, job, { isRetired: false, reason: "asked for", cause, at });
  };
  /** Takes all that is stored for as old as a sweeper has to find it. */
  const sweep: Actor = async (step) => {
    const own = portsBy(step);
    for (const one of ids()) {
      const hasContent = (await contents.get(one)) !== null;
      if (hasContent) await eraseLeftover(own, { job: one, attachment: null }, leftOver);
      const isAttached = (await contents.attachments.get(one, attachment.sha256)) !== null;
      if (isAttached) await eraseLeftover(own, { job: one, attachment: attachment.sha256 }, leftOver);
    }
  };

  const faultsOf = async (one: JobRef): Promise<readonly string[]> => {
    const decisions = await log.readDecisions(one);
    const created = decisions.find(({ event }) => event.type === "JobCreated")?.event;
    const stored = await contents.get(one);
    const isThere = stored !== null || (await contents.attachments.get(one, attachment.sha256)) !== null;
    const isErased = decisions.some(({ event }) => event.type === "JobContentErased");
    if (created?.type !== "JobCreated") return isThere ? ["content was left over"] : [];
    if (isErased) return isThere ? ["what was erased is there again"] : [];
    const isWhole = (await contents.attachments.get(one, attachment.sha256)) !== null;
    if (stored === null || digestOf(stored) !== created.data.contentSha256) return ["a job has lost its content"];
    return isWhole ? [] : ["a job has lost its attachment"];
  };
  /** What is wrong once the sweeper has been there in the end, too. */
  const faults = async (): Promise<readonly string[]> => {
    await sweep((act) => act());
    const created = await Promise.all(ids().map((one) => isCreated(log, one)));
    const found = (await Promise.all(ids().map(faultsOf))).flat();
    if (created.filter((is) => is).length > 1) found.push("one key made two jobs");
    for (const { job: accepted } of answers) {
      if (accepted !== null && !(await isCreated(log, accepted))) found.push("what was accepted is in no log");
    }
    return found;
  };
  return { post, erase, sweep, faults, answers };
}

const isCreated = async (log: EventLog, one: JobRef): Promise<boolean> =>
  (await log.readDecisions(one))[0]?.event.type === "JobCreated";

type World = ReturnType<typeof createWorld>;
type Cast = (world: World) => Readonly<Record<string, Actor>>;

describe("Requests with one idempotency key at the same time", function () {
  this.timeout(120_000);

  const checked = async (world: World, playing: ReturnType<typeof play>) => {
    const played = await playing;
    expect(await world.faults(), `on the path ${played.path.join(" ")}`).to.deep.equal([]);
    return played;
  };
  const playEvery = async (cast: Cast, check: (world: World) => void = () => {}): Promise<void> => {
    await playAll(async (choose) => {
      const world = createWorld();
      const played = await checked(world, play(cast(world), choose));
      check(world);
      return played;
    });
  };
  /** Of too many ways to try them all; a request may stand still anywhere, or never go on. */
  const playSome = async (cast: Cast, seeds: number): Promise<void> => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const chance = createChance(seed);
      const world = createWorld();
      const crashing = chance.happens(0.5) ? { one: Math.floor(chance.between(0, 8)) } : {};
      await checked(
        world,
        play(cast(world), (waiting) => Math.floor(chance.between(0, waiting)), crashing),
      );
    }
  };

  it("that ask for the same become one job, which keeps its content, whatever comes between what", async () => {
    await playEvery(
      ({ post }) => ({ one: post("An invoice"), other: post("An invoice") }),
      ({ answers }) => expect(answers.map((answer) => answer.job)).to.deep.equal([job, job]),
    );
  });

  it("that ask for something else become one job, with the content of the one that was accepted", async () => {
    await playEvery(
      ({ post }) => ({ one: post("An invoice"), other: post("A reminder") }),
      ({ answers }) => expect(answers.filter((answer) => answer.job !== null)).to.have.length(1),
    );
  });

  it("are each accepted with their content while the sweeper takes it for left over", async () => {
    await playEvery(
      ({ post, sweep }) => ({ one: post("An invoice"), sweep }),
      ({ answers }) => expect(answers[0]?.job).to.be.an("object"),
    );
  });

  it("bring nothing back once the content of their job was erased, however late they come", async () => {
    await playEvery(({ post, erase }) => ({ one: post("An invoice"), erase }));
  });

  it("keep all that in threes, with a sweeper, an erasure, and a request that never goes on", async () => {
    const cast: Cast = ({ post, sweep, erase }) => ({
      one: post("An invoice"),
      other: post("An invoice"),
      third: post("A reminder"),
      sweep,
      again: sweep,
      erase,
    });
    await playSome(cast, 1000);
  });
});

type Step = Parameters<Actor>[0];

const logBy = (log: EventLog, step: Step): EventLog => ({
  ...log,
  append: (...event) => step(() => log.append(...event)),
  readDecisions: (ref) => step(() => log.readDecisions(ref)),
  lastDecision: (ref) => step(() => log.lastDecision(ref)),
});

const contentsBy = (contents: ContentStore, step: Step): ContentStore => ({
  maxBytes: contents.maxBytes,
  put: (ref, content) => step(() => contents.put(ref, content)),
  get: (ref) => step(() => contents.get(ref)),
  rewrite: (ref, change) => step(() => contents.rewrite(ref, change)),
  erase: (ref) => step(() => contents.erase(ref)),
  attachments: {
    put: (ref, sha256, content) => step(() => contents.attachments.put(ref, sha256, content)),
    get: (ref, sha256) => step(() => contents.attachments.get(ref, sha256)),
    erase: (ref, sha256) => step(() => contents.attachments.erase(ref, sha256)),
  },
});
