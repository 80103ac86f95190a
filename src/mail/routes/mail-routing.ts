import type { RouteState } from "../../domain/recipients/route-state.ts";
import type { BreakerState } from "../../domain/unavailable.ts";
import type { Standing } from "../backoff.ts";
import type { BrokenMailer } from "../breaker.ts";
import { createJobRoutes, type Group, groupOf, type JobRoutes } from "./job-routes.ts";
import type { MailRoute, Sending } from "./mail-route.ts";
import type { RouteBook } from "./route-book.ts";
import { createRouteRun, type RouteRun } from "./route-run.ts";

/** All routes of this process. Mails of a job go through the routes that it joins. */
export type MailRouting = {
  join(sending: Sending): JobRoutes;
  /** Connections of the default route, which most mails use. */
  readonly connections: number;
  /** Learns what changed a moment ago. Throws Unavailable. */
  refresh(): Promise<void>;
  /** Whether some route cannot be read by this process: then it cannot tell that a route is missing. */
  knowsAll(): boolean;
  /** The best of all routes: work goes on as long as one of them can be used. */
  standing(): Standing;
  state(): BreakerState;
  runs(): readonly RouteRun[];
  states(): readonly RouteState[];
  onChange(changed: () => void): void;
  start(): void;
  stop(): void;
  /** Closes the connections of all routes. */
  close(): Promise<void>;
};

export type OpenRoute = (route: MailRoute) => BrokenMailer;

type Opened = { readonly route: MailRoute; readonly run: RouteRun };

/**
 * Follows the book: opens the routes that are new, and retires those that are gone, or whose account is another one by now.
 * What else changes of a route applies from the next mail on.
 */
export function createMailRouting(book: RouteBook, openRoute: OpenRoute): MailRouting {
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const groups = new Map<string, Group>();
  const retired = new Set<RouteRun>();
  let opened: ReadonlyMap<string, Opened> = new Map();
  let version = 0;
  let isStarted = false;

  const open = (route: MailRoute): RouteRun => {
    const run = createRouteRun(route, openRoute(route), changed);
    if (isStarted) run.start();
    return run;
  };
  const follow = (): void => {
    const before = opened;
    opened = new Map(book.routes().map((route) => [route.name, { route, run: keptRun(before, route) ?? open(route) }]));
    for (const { run } of before.values()) {
      if (opened.get(run.name)?.run === run) continue;
      run.retire();
      retired.add(run);
    }
    for (const run of retired) if (run.inFlight() === 0) retired.delete(run);
    groups.clear();
    version += 1;
    changed();
  };
  follow();
  const stopFollowing = book.onChange(follow);
  const runs = (): readonly RouteRun[] => [...opened.values()].map(({ run }) => run);

  return {
    connections: book.routes()[0]?.connections ?? 1,
    join: (sending) =>
      createJobRoutes({
        version: () => version,
        group: () => groupOf(groups, [...opened.values()], sending),
        others: runs,
      }),
    refresh: book.refresh,
    knowsAll: () => book.unreadable().size === 0,
    standing: () => bestStanding(runs()),
    state: () => bestState(runs()),
    runs,
    states: () => runs().map((run) => run.look()),
    onChange: (listener) => listeners.add(listener),
    start: () => {
      isStarted = true;
      for (const run of runs()) run.start();
    },
    stop: () => {
      stopFollowing();
      for (const run of runs()) run.stop();
    },
    close: async () => {
      stopFollowing();
      await Promise.all([...runs(), ...retired].map((run) => run.close()));
    },
  };
}

/** The run goes on where the account is the same. */
function keptRun(before: ReadonlyMap<string, Opened>, { name, url, connections }: MailRoute): RouteRun | null {
  const known = before.get(name);
  if (known === undefined || known.route.url !== url || known.route.connections !== connections) return null;
  return known.run;
}

const standings = ["unknown", "away", "lets-in", "answers"] as const satisfies readonly Standing[];

/** An open breaker tells the same as a server that is away, and the gate asks for it by itself. */
function bestStanding(runs: readonly RouteRun[]): Standing {
  const closed = runs.filter(({ mailer }) => mailer.state() === "closed");
  return standings[Math.max(0, ...closed.map(({ standing }) => standings.indexOf(standing())))] ?? "unknown";
}

function bestState(runs: readonly RouteRun[]): BreakerState {
  const states = new Set(runs.map(({ mailer }) => mailer.state()));
  if (states.has("closed")) return "closed";
  return states.has("half-open") ? "half-open" : "open";
}
