import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { decodeContent, digestOf } from "../../src/content/encode-content.ts";
import type { ErasurePorts } from "../../src/erasure/complete-erasure.ts";
import { eraseLeftover } from "../../src/erasure/erase-leftovers.ts";
import { isOfJob, type JobRef, keyOf } from "../../src/event-log/event-log.ts";
import { changeMailingRoutes } from "../../src/http/routes/change-mailing.ts";
import type { RouteDependencies } from "../../src/http/routes/route-dependencies.ts";
import type { Answer } from "../../src/http/server/answer.ts";
import type { ApiRequest } from "../../src/http/server/route.ts";
import { draftJob } from "../../src/intake/draft-job.ts";
import { createMailing, type MailingCreation, toMailingDraft } from "../../src/mailings/create-mailing.ts";
import { createMailingListener } from "../../src/mailings/follow-mailings.ts";
import { createImporter } from "../../src/mailings/import-recipients.ts";
import type { MailingRequest } from "../../src/mailings/mailing-request.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { emptySuppressions } from "../support/empty-suppressions.ts";
import { eventually } from "../support/eventually.ts";
import { counts, now, recipientSent } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { cause, decide, draftMailing, fileOf, importInto, people, type Stored, stateOf } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { atEveryStep, createMortal, type Death, type Mortal } from "../support/mortal.ts";

const room = { isLeftForJobs: async () => true };
const others = { results: createMemoryResultStore(), outbox: emptyOutbox, suppressions: emptySuppressions };
const immortal = createMortal(null);

/** What was stored, and under which ids. */
type Kept = Stored & { readonly keys: Map<string, JobRef> };

function store(): Kept {
  const keys = new Map<string, JobRef>();
  const contentStore = createMemoryContentStore();
  const put: typeof contentStore.put = (job, content) => {
    keys.set(keyOf(job), job);
    return contentStore.put(job, content);
  };
  return { log: createMemoryEventLog(), contentStore: { ...contentStore, put }, keys };
}

/** What the sweeper does with what is older than any request. */
async function sweep({ keys, ...stored }: Kept): Promise<void> {
  const ports: ErasurePorts = { ...stored, ...others };
  for (const job of keys.values()) {
    await eraseLeftover(ports, { job, attachment: null }, { reason: "swept", cause, at: now });
  }
}

const typesOf = async ({ log }: Stored, mailing: JobRef) =>
  (await log.readMailing(mailing)).map(({ event }) => event.type);

/** Every step of what a mailing goes through is the last one of a process, and another process goes on. */
describe("A mailing whose process dies", function () {
  this.timeout(120_000);

  describe("while its recipients are imported", () => {
    /** Parts of two, eight of which are one decision. */
    const rate = 24;
    const valid = people(17);
    const lines = valid.flatMap((one, index) => [
      one,
      ...(index % 10 === 3 ? ["no address"] : []),
      ...(index % 5 === 4 ? [valid[index - 4]?.toUpperCase() ?? ""] : []),
    ]);
    const importAs = ({ live, finishes }: Mortal, { keys: _, ...stored }: Kept, mailing: JobRef) => {
      const importer = createImporter(live({ ...stored, room, now: () => now }));
      return finishes(() => importer.import(mailing, fileOf(lines), cause));
    };

    async function expectWhole(stored: Kept, mailing: JobRef, after: string): Promise<void> {
      await sweep(stored);
      const { parts } = await stateOf(stored, mailing);
      const contents = await Promise.all(parts.map(({ jobId }) => stored.contentStore.get({ ...mailing, jobId })));
      const found = contents.flatMap((content) => (content === null ? [] : decodeContent(content).recipients));
      expect(
        found.map((one) => one?.email),
        after,
      ).to.deep.equal(valid);
      expect(
        contents.map((content) => digestOf(content ?? "")),
        after,
      ).to.deep.equal(parts.map(({ contentSha256 }) => contentSha256));
      const named = new Set([mailing, ...parts].map(({ jobId }) => jobId));
      for (const job of stored.keys.values()) {
        expect((await stored.contentStore.get(job)) !== null, `${after}: ${job.jobId}`).to.equal(named.has(job.jobId));
      }
    }

    it("has each valid recipient once, however often it dies, and nothing else is left", async () => {
      const dieTwice = async (first: Death, second: Death | null): Promise<readonly [boolean, boolean]> => {
        const stored = store();
        const mailing = await draftMailing(stored, "default", { rate });
        const isFirstFinished = await importAs(createMortal(first), stored, mailing);
        const isSecondFinished = await importAs(createMortal(second), stored, mailing);
        await importInto(stored, mailing, lines);
        await expectWhole(stored, mailing, JSON.stringify([first, second]));
        return [isFirstFinished, isSecondFinished];
      };
      const steps = await atEveryStep(async (first) => {
        // What had no effect is as if it had died a step before: a second death after each of those would say nothing new.
        if (!first.isDone) return (await dieTwice(first, null))[0];
        let isFinished = true;
        for (let [step, isOver] = [1, false]; !isOver; step += 1) {
          [isFinished, isOver] = await dieTwice(first, { ...first, step });
        }
        return isFinished;
      });
      expect(steps).to.be.greaterThan(12);
    });
  });

  describe("while it is created", () => {
    const asked = { type: "email.send", subject: "Hello", body: "Dear all", name: "Autumn" } as MailingRequest;
    const bytes = Buffer.from("a file");
    const file = { filename: "a.txt", contentType: "text/plain", contentId: null, size: bytes.length, bytes };
    const attachments = [{ ...file, sha256: digestOf(bytes) }];

    const createAs = async ({ live, finishes }: Mortal, { keys: _, ...stored }: Kept, job: JobRef) => {
      const drafted = draftJob({ job, isRepeatable: true, body: asked, request: asked, maxAttempts: 4, at: now });
      const draft = { ...toMailingDraft(drafted, asked), attachments };
      const { log, contentStore } = live(stored);
      let creation: MailingCreation | null = null;
      const isFinished = await finishes(async () => {
        creation = await createMailing(log, contentStore, draft, cause, now);
      });
      return { isFinished, creation: creation as Extract<MailingCreation, { outcome: "accepted" }> | null };
    };

    for (const isSwept of [false, true]) {
      it(`is there once when its request is repeated${isSwept ? ", though it was swept meanwhile" : ""}`, async () => {
        const steps = await atEveryStep(async (death) => {
          const [stored, job] = [store(), newJob()];
          const { isFinished } = await createAs(createMortal(death), stored, job);
          if (isSwept) await sweep(stored);
          const repeated = (await createAs(immortal, stored, job)).creation;
          const again = (await createAs(immortal, stored, job)).creation;
          expect([repeated?.mailing, again?.isRepeat], JSON.stringify(death)).to.deep.equal([again?.mailing, true]);
          const mailing = repeated?.mailing ?? job;
          expect(await typesOf(stored, mailing)).to.deep.equal(["MailingCreated"]);
          const { settings } = await stateOf(stored, mailing);
          expect(digestOf((await stored.contentStore.get(mailing)) ?? "")).to.equal(settings.contentSha256);
          expect(await stored.contentStore.attachments.get(mailing, digestOf(bytes))).to.deep.equal(bytes);
          if (mailing.jobId !== job.jobId) expect(await stored.contentStore.get(job)).to.equal(null);
          return isFinished;
        });
        expect(steps).to.be.greaterThan(3);
      });
    }
  });

  describe("while people decide", () => {
    type World = { readonly stored: Kept; readonly mailing: JobRef; readonly counted: Map<string, number> };
    type Asked = {
      readonly action: string;
      readonly actor: string;
      readonly body: (stored: Stored, mailing: JobRef) => Promise<unknown>;
    };
    const start: Asked = { action: "start", actor: "key:asker", body: async () => ({}) };
    const approve: Asked = {
      action: "approve",
      actor: "key:boss",
      body: async (stored, mailing) => ({ digest: (await stateOf(stored, mailing)).approval?.digest }),
    };
    const undo: Asked = { action: "undo", actor: "key:asker", body: async () => ({}) };

    /** Without a read model, and with a quota that knows whom it has counted. */
    const ask = async ({ live, finishes }: Mortal, { stored, mailing, counted }: World, asked: Asked) => {
      const take = async ({ job, recipients }: { readonly job: JobRef; readonly recipients: number }) => {
        counted.set(job.jobId, recipients);
        return { granted: true };
      };
      const find = async () => Promise.reject(new Error("There is no read model."));
      const { log, contentStore } = stored;
      const ports = live({ log, contentStore, room, quota: { take }, mailings: { find } });
      const given = {
        ...ports,
        ownWrites: { remember: () => {} },
        approvalAbove: null,
        now: () => new Date().toISOString(),
      };
      const route = changeMailingRoutes(given as unknown as RouteDependencies).find(({ path }) =>
        path.endsWith(`/${asked.action}`),
      );
      const limits = { senders: null, dailyRecipients: 1000, approvalAbove: null };
      const context = { tenant: mailing.tenant, actor: asked.actor, limits, requestId: "r1", traceparent: "" };
      const body = await asked.body(stored, mailing);
      const request = { context, base: "/api", body, part: () => mailing.jobId, inTime: <Given>(one: Given) => one };
      let answer: Answer | undefined;
      const isFinished = await finishes(async () => {
        answer = await route?.handle(request as unknown as ApiRequest);
      });
      return { isFinished, status: (answer as Answer | undefined)?.status };
    };

    const stories: readonly (readonly [
      name: string,
      request: Partial<MailingRequest>,
      before: readonly Asked[],
      asked: Asked,
      types: readonly string[],
    ])[] = [
      ["starts once", {}, [], start, ["MailingStarted"]],
      ["starts once with time to take it back", { undoFor: 60 }, [], start, ["MailingStarted"]],
      [
        "asks for its approval once, and starts not at all",
        { approval: "required" },
        [],
        start,
        ["MailingApprovalRequested"],
      ],
      [
        "is approved and started once",
        { approval: "required" },
        [start],
        approve,
        ["MailingApprovalRequested", "MailingApproved", "MailingStarted"],
      ],
      ["is taken back once", { undoFor: 60 }, [start], undo, ["MailingStarted", "MailingUndone"]],
    ];
    for (const [name, request, before, asked, types] of stories) {
      it(name, async () => {
        const steps = await atEveryStep(async (death) => {
          const stored = store();
          const mailing = await draftMailing(stored, "default", request);
          const world: World = { stored, mailing, counted: new Map() };
          await importInto(stored, mailing, people(3));
          for (const one of before) await ask(immortal, world, one);
          const { isFinished } = await ask(createMortal(death), world, asked);
          const repeats = [await ask(immortal, world, asked), await ask(immortal, world, asked)];
          expect(
            repeats.map(({ status }) => status),
            JSON.stringify(death),
          ).to.deep.equal([200, 200]);
          const found = await typesOf(stored, mailing);
          expect(found.slice(2), JSON.stringify(death)).to.deep.equal(types);
          expect([...world.counted.values()], "counted").to.deep.equal(types.includes("MailingStarted") ? [3] : []);
          return isFinished;
        });
        expect(steps).to.be.greaterThan(2);
      });
    }
  });

  describe("while its parts are made", () => {
    type Checkpoint = { readonly sequence: number; readonly unfinished: readonly string[] };
    const atTheBeginning: Checkpoint = { sequence: 0, unfinished: [] };

    /**
     * Acts on the log as a process of the service does, until it dies or the log says that the mailing is at its end.
     * Answers the best checkpoint that it could have left, and whether it lived to the end.
     */
    async function follow(mortal: Mortal, stored: Kept, from: Checkpoint, isAtEnd: () => Promise<boolean>) {
      const { log, contentStore } = stored;
      const listener = createMailingListener({
        ...mortal.live({ log, contentStore, room, ...others }),
        report: () => {},
      });
      const over = new AbortController();
      const ending = { stopping: over.signal, givenUp: over.signal };
      const undone = new Set<number>();
      let read = from.sequence;
      const left = (): Checkpoint => ({
        sequence: (undone.values().next().value ?? read + 1) - 1,
        unfinished: listener.unfinished?.name() ?? [],
      });
      const isFinished = await mortal.finishes(async () => {
        await listener.unfinished?.takeUp(from.unfinished, ending);
        const following = log.follow({ afterSequence: read, maxEvents: 1, signal: over.signal });
        void (async () => {
          for await (const [event] of following) {
            if (event === undefined || !("event" in event)) continue;
            read = event.sequence;
            const acting = listener.act(event, ending);
            if (acting === null) continue;
            undone.add(event.sequence);
            void acting.then(() => undone.delete(event.sequence));
          }
        })();
        await eventually(async () => expect(await isAtEnd()).to.equal(true), 60_000);
      });
      const checkpoint = left();
      over.abort();
      return { isFinished, checkpoint };
    }

    /** Does each job that it sees. */
    async function work({ log }: Stored, signal: AbortSignal): Promise<void> {
      const own = { run: 1, attempt: 1, worker: "worker-1" };
      const completed = counts({ total: 1, sent: 1 });
      for await (const [entry] of log.follow({ afterSequence: 0, maxEvents: 1, signal })) {
        if (entry === undefined || !isOfJob(entry) || entry.event.type !== "JobCreated") continue;
        await handleCommand(log, entry, { type: "StartJob", at: now, ...own, opening: 0 }, cause);
        await pause(2);
        await log.record(entry, [{ ...cause, id: `${entry.jobId}/sent`, event: recipientSent({ recipient: 0 }) }]);
        await handleCommand(log, entry, { type: "CompleteJob", at: now, ...own, counts: completed }, cause);
      }
    }

    /** A mailing of so many parts, of one recipient each. */
    const inParts = async (stored: Kept, parts: number, asked: Partial<MailingRequest> = {}): Promise<JobRef> => {
      const mailing = await draftMailing(stored, "default", asked);
      for (let part = 0; part < parts; part += 1) await importInto(stored, mailing, people(1, part));
      return mailing;
    };
    const start = (stored: Kept, mailing: JobRef) =>
      decide(stored, mailing, { type: "StartMailing", at: new Date().toISOString(), scheduledAt: null });

    /** One process that dies, and another that goes on from what the first may have left, much or nothing. */
    const survives = async (death: Death, stored: Kept, isAtEnd: () => Promise<boolean>, isNoted: boolean) => {
      const first = await follow(createMortal(death), stored, atTheBeginning, isAtEnd);
      if (!first.isFinished) await follow(immortal, stored, isNoted ? first.checkpoint : atTheBeginning, isAtEnd);
      return first.isFinished;
    };

    for (const isNoted of [true, false]) {
      const after = isNoted ? "as it was noted" : "from the beginning of the log";
      it(`has each part made once and counted once, and the next process goes on ${after}`, async () => {
        const steps = await atEveryStep(async (death) => {
          const stored = store();
          const mailing = await inParts(stored, 3, { undoFor: 0 });
          const working = new AbortController();
          const isAtEnd = async () => (await stateOf(stored, mailing)).status === "completed";
          void work(stored, working.signal);
          await start(stored, mailing);
          const isFinished = await survives(death, stored, isAtEnd, isNoted);
          working.abort();
          const said = JSON.stringify(death);
          for (const { jobId } of (await stateOf(stored, mailing)).parts) {
            const decisions = await stored.log.readDecisions({ ...mailing, jobId });
            expect(
              decisions.map(({ event }) => event.type),
              said,
            ).to.deep.equal(["JobCreated", "JobStarted", "JobCompleted"]);
          }
          const events = (await stored.log.readMailing(mailing)).map(({ event }) => event);
          const ended = events.flatMap((event) => (event.type === "MailingPartsEnded" ? event.data.parts : []));
          expect(ended.map(({ part }) => part).sort(), said).to.deep.equal([0, 1, 2]);
          const ends = events.flatMap((event) => (event.type === "MailingCompleted" ? [event.data.counts] : []));
          expect(ends, said).to.deep.equal([counts({ total: 3, sent: 3 })]);
          return isFinished;
        });
        expect(steps).to.be.greaterThan(10);
      });
    }
  });
});
