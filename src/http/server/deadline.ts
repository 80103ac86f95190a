import type { Quota } from "../../access/quota.ts";
import type { ContentStore } from "../../content/content-store.ts";
import type { TemplateStore } from "../../content/template-store.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import type { EventLog } from "../../event-log/event-log.ts";
import type { LogRoom } from "../../event-log/log-room.ts";
import type { SuppressionList } from "../../suppressions/suppression-list.ts";
import type { WebhookStore } from "../../webhooks/webhook-store.ts";

/** A request is answered within two seconds, whatever NATS does: this much of it is for all calls to NATS together. */
const patienceMs = 1500;
/** More time for content beyond a megabyte, such as attachments, which takes long over a slow line. */
const usualBytes = 1_000_000;
const bytesPerMs = 1000;

/** The request's deadline for NATS, shared by all calls that the request makes. */
export type Deadline = {
  /** Throws Unavailable once the time is up, and makes no further calls; calls made before may still take effect. */
  bound<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
};

/** The time begins with the first call: the time that a frozen database took before does not count against NATS. */
export function createDeadline(bodyBytes: number): Deadline {
  const forMs = patienceMs + Math.max(0, bodyBytes - usualBytes) / bytesPerMs;
  let endsAt: number | null = null;
  return {
    bound: async (ask) => {
      endsAt ??= performance.now() + forMs;
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) throw tooLate();
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<never>((_, reject) => {
        // After a standstill the time is up before the answers that have come meanwhile are read: they count.
        timer = setTimeout(() => setImmediate(() => reject(tooLate())), leftMs);
      });
      try {
        return await Promise.race([ask(), over]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

const tooLate = (): Unavailable => new Unavailable("NATS did not answer within the time of the request.");

/** The ports through which routes call NATS. */
export type BoundPorts = {
  readonly log?: EventLog;
  readonly contentStore?: ContentStore;
  readonly room?: LogRoom;
  readonly quota?: Quota;
  readonly suppressions?: SuppressionList;
  readonly templates?: TemplateStore;
  readonly webhooks?: { readonly store: WebhookStore };
};

/** The same ports; each call answers before the deadline or throws. */
export const boundBy = <Given extends BoundPorts>(deadline: Deadline, ports: Given): Given =>
  seenThrough(ports, (port, name) =>
    // The cast: a port and its binding have the same name, which the compiler cannot follow.
    port !== undefined && isBound(name) ? bindings[name](deadline, port as never) : port,
  );

type Bindings = {
  readonly [Name in keyof BoundPorts]-?: (deadline: Deadline, port: NonNullable<BoundPorts[Name]>) => unknown;
};

/** A port whose functions all make a call. */
const each = (deadline: Deadline, port: object): object => seenThrough(port, (member) => boundCall(deadline, member));

const bindings: Bindings = {
  // Listening and following are no calls: both go on for as long as the client listens.
  log: (deadline, log) =>
    seenThrough(log, (member, name) =>
      name === "follow" || name === "onDecision" ? member : boundCall(deadline, member),
    ),
  contentStore: (deadline, store) =>
    seenThrough(store, (member, name) =>
      name === "attachments" ? each(deadline, store.attachments) : boundCall(deadline, member),
    ),
  room: each,
  quota: each,
  suppressions: each,
  templates: each,
  webhooks: (deadline, { store, ...others }) => ({ ...others, store: each(deadline, store) }),
};

const isBound = (name: PropertyKey): name is keyof Bindings => Object.hasOwn(bindings, name);

type Ask = (...given: readonly unknown[]) => Promise<unknown>;

const boundCall = (deadline: Deadline, member: unknown): unknown =>
  typeof member === "function"
    ? (...given: readonly unknown[]) => deadline.bound(() => (member as Ask)(...given))
    : member;

/**
 * Like the given object, with its members as `see` has them. Nothing is copied: a copy of all ports, with a function for
 * each of theirs, cost a POST more than its own checks.
 */
const seenThrough = <Seen extends object>(seen: Seen, see: (member: unknown, name: PropertyKey) => unknown): Seen =>
  new Proxy(seen, { get: (_, name) => see(Reflect.get(seen, name), name) });
