import { handleCommand } from "../../src/commands/handle-command.ts";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import type { JobCommand } from "../../src/domain/job/commands.ts";
import type { JobSettings } from "../../src/domain/job/events.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { acceptJob } from "../../src/intake/accept-job.ts";
import { settings as exampleSettings } from "../support/examples.ts";
import { exampleContent } from "../support/write-side.ts";
import type { JobOfScenario, Order } from "./scenario.ts";
import type { Service } from "./service.ts";
import type { World } from "./world.ts";

const groupSha256 = "9".repeat(64);

export const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
const now = (): string => new Date().toISOString();
const sayAgainAfterMs = 700;

export const anotherSubject = "Another subject";

export const jobIdOf = (index: number): string => `job-${index + 1}`;

export const addressOf = (job: number, recipient: number): string => `r${recipient}@${jobIdOf(job)}.example`;

/** What is asked for with the key of a job; with another subject it is another request. */
export function draftOf(world: World, index: number, scenario: JobOfScenario, subject = exampleContent.subject) {
  const job = { tenant: "default", jobId: jobIdOf(index) };
  const recipients = Array.from({ length: scenario.recipients }, (_, recipient) => ({
    email: addressOf(index, recipient),
  }));
  const content = encodeContent({ ...exampleContent, subject, recipients });
  const { priority, maxAttempts, retryDelayMs, onUnknown, startsAfterMs, isGrouped } = scenario;
  const scheduledAt = startsAfterMs === null ? null : new Date(world.nowMs() + startsAfterMs).toISOString();
  const settings: JobSettings = {
    ...exampleSettings,
    ...{ priority, maxAttempts, retryDelayMs, onUnknown, scheduledAt, groupSha256: isGrouped ? groupSha256 : null },
    total: scenario.recipients,
    contentSha256: digestOf(content),
    requestSha256: digestOf(`${job.jobId} ${subject}`),
  };
  return { job, content, attachments: [], settings };
}

/** Says to the service what people say: jobs until they are accepted, orders once, whatever becomes of them. */
export function createClients(world: World, { shared, createClient }: Service) {
  const clients = new Set<object>();

  const asClient = (act: (log: ReturnType<typeof shared.logOf>, name: string) => Promise<void>): void => {
    const client = createClient();
    clients.add(client);
    const done = (): void => {
      clients.delete(client);
    };
    world.runIn(client, () => {
      act(shared.logOf(client), client.name).then(done, (failure: unknown) => {
        done();
        if (!(failure instanceof Unavailable)) world.violated(`${client.name} met ${String(failure)}`);
      });
    });
  };

  return {
    areDone: (): boolean => clients.size === 0,
    create: (index: number, scenario: JobOfScenario, mayBeRefused: boolean): void => {
      let draft = draftOf(world, index, scenario);
      const { job } = draft;
      const client = createClient();
      clients.add(client);
      const [log, contents] = [shared.logOf(client), shared.contentsOf(client)];
      const say = (): void => {
        acceptJob(log, contents, draft, cause, now()).then(
          ({ outcome }) => {
            if (outcome === "accepted") clients.delete(client);
            else if (mayBeRefused) sayTheOther();
            else world.violated(`${job.jobId} is refused`);
          },
          () => setTimeout(say, sayAgainAfterMs),
        );
      };
      /** Another client with a different request under the same key was faster, and may have died during it. */
      const sayTheOther = (): void => {
        draft = draftOf(world, index, scenario, anotherSubject);
        say();
      };
      world.runIn(client, say);
    },
    order: ({ job, type, scope, startsAfterMs }: Order): void =>
      asClient(async (log, name) => {
        const ref = { tenant: "default", jobId: jobIdOf(job) };
        world.note(`${name} says ${type} to ${ref.jobId}`);
        const said = { at: now(), reason: null };
        const scheduledAt = startsAfterMs === null ? null : new Date(world.nowMs() + startsAfterMs).toISOString();
        const command: JobCommand =
          type === "RetryJob"
            ? { type, scope, ...said }
            : type === "RescheduleJob"
              ? { type, scheduledAt, ...said }
              : { type, ...said };
        const { outcome } = await handleCommand(log, ref, command, cause);
        world.note(`${name} is answered: ${type} is ${outcome}`);
      }),
  };
}
