import { handleCommand } from "../../src/commands/handle-command.ts";
import { foldDecisions } from "../../src/commands/read-version.ts";
import type { ContentStore } from "../../src/content/content-store.ts";
import { digestOf } from "../../src/content/encode-content.ts";
import { isContentErased } from "../../src/domain/job/erase-content.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { eraseJob } from "../../src/erasure/erase-job.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { acceptJob } from "../../src/intake/accept-job.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { emptySuppressions } from "../support/empty-suppressions.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { anotherSubject, cause, draftOf, jobIdOf } from "./client.ts";
import type { JobOfScenario, Rival } from "./scenario.ts";
import type { Service } from "./service.ts";
import type { SimulatedProcess, World } from "./world.ts";

const now = (): string => new Date().toISOString();
const againAfterMs = 700;

/** Clients that create a job at the same moment as its first client, or long after it, and clients that erase it. */
export function createRivals(world: World, service: Service) {
  const { shared, createClient, createRival } = service;
  const erasing = new Set<object>();

  const request = (index: number, scenario: JobOfScenario, rival: Rival): void => {
    const process = createRival();
    const standing = standsStill(world, process, rival);
    const [log, contents] = [standing.log(shared.logOf(process)), standing.contents(shared.contentsOf(process))];
    const draft = draftOf(world, index, scenario, rival.does === "another" ? anotherSubject : undefined);
    world.note(`${process.name} asks for ${rival.does} with the key of ${draft.job.jobId}`);
    world.runIn(process, () => {
      acceptJob(log, contents, draft, cause, now()).then(
        ({ outcome }) => world.note(`${process.name} is answered: ${outcome}`),
        (failure: unknown) => {
          if (!(failure instanceof Unavailable)) world.violated(`${process.name} met ${String(failure)}`);
        },
      );
    });
  };

  const erase = (index: number): void => {
    const client = createClient();
    erasing.add(client);
    const job = { tenant: "default", jobId: jobIdOf(index) };
    const ports = {
      log: shared.logOf(client),
      contentStore: shared.contentsOf(client),
      results: createMemoryResultStore(),
      outbox: emptyOutbox,
      suppressions: emptySuppressions,
    };
    const say = (): void => {
      const cancelled = handleCommand(ports.log, job, { type: "CancelJob", at: now(), reason: null }, cause);
      cancelled
        .then(() => eraseJob(ports, job, { isRetired: false, reason: null, cause, at: now() }))
        .then(
          ({ outcome }) => {
            erasing.delete(client);
            world.note(`${client.name} is answered: the erasure is ${outcome}`);
          },
          () => setTimeout(say, againAfterMs),
        );
    };
    world.runIn(client, say);
  };

  return {
    areDone: (): boolean => erasing.size === 0,
    act: (rival: Rival, scenario: JobOfScenario): void =>
      rival.does === "erase" ? erase(rival.job) : request(rival.job, scenario, rival),
  };
}

/** Before one of its questions it stands still for a while, as a process that is stopped. */
function standsStill(world: World, process: SimulatedProcess, { standsBefore, standsForMs }: Rival) {
  let asked = 0;
  const stepping = <Ask extends (...given: never[]) => unknown>(ask: Ask): Ask =>
    ((...given: Parameters<Ask>) => {
      if (asked === standsBefore && !world.isHealed() && process.state === "alive") world.freeze(process, standsForMs);
      asked += 1;
      return ask(...given);
    }) as Ask;
  return {
    log: (log: EventLog): EventLog => ({
      ...log,
      append: stepping(log.append),
      readDecisions: stepping(log.readDecisions),
    }),
    contents: (contents: ContentStore): ContentStore => ({
      ...contents,
      put: stepping(contents.put),
      get: stepping(contents.get),
      erase: stepping(contents.erase),
    }),
  };
}

/** What is wrong with what is stored for a job, once everything is quiet; `isSwept` where a sweeper removes the leftovers. */
export async function faultsOfContent({ shared }: Service, jobId: string, isSwept: boolean): Promise<string[]> {
  const job = { tenant: "default", jobId };
  const { state } = foldDecisions(await shared.memory.readDecisions(job));
  const stored = await shared.contents.get(job);
  const isGone = state.status === "absent" || isContentErased(state);
  if (isGone) return stored === null || !isSwept ? [] : [`${jobId} has content that was to be erased`];
  const isRight = stored !== null && digestOf(stored) === state.settings.contentSha256;
  return isRight ? [] : [`${jobId} has lost its content`];
}
