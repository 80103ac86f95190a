import type { SendOutcome } from "../../domain/recipients/events.ts";
import { type Mail, MailWithdrawn } from "../mailer.ts";
import { type Candidate, type Credits, lastResort, nextUsable, toCandidate } from "./choose-run.ts";
import { type MailRoute, routesFor, type Sending } from "./mail-route.ts";
import type { RouteRun } from "./route-run.ts";

/** The routes that may carry the same mails. Jobs with the same routes share their connections fairly. */
export type Group = {
  readonly key: string;
  readonly candidates: readonly Candidate[];
  readonly credits: Credits;
  readonly routes: readonly MailRoute[];
};

export type RoutedOutcome = {
  /** The name of the route that the outcome is from; empty where none was there to try. */
  readonly route: string;
  readonly outcome: SendOutcome;
};

/** The routes of one job. What changes of them applies from the next mail on. */
export type JobRoutes = {
  /** The same for jobs with the same routes. */
  key(): string;
  /** Connections of the routes that would carry the mails now. */
  connections(): number;
  /** The names of these routes. */
  carrying(): readonly string[];
  /** How many mails a second these routes let through in this process; null for no limit, and where there is no route. */
  perSecond(): number | null;
  /** Whether there is another route, by which other jobs can go. */
  haveOthers(): boolean;
  /**
   * Why the job should not begin: no route may carry its mails, or those that may are away while others are not. Where all
   * routes are away it may begin, as its worker takes few jobs then.
   */
  whyNotBegin(): "no-route" | "away" | null;
  /**
   * Hands a mail to the first route that can be used, and to the next one if that is certainly not to have it: because the
   * route is away, or because its server does not offer what the mail needs. After a wait, before another route, and once
   * there is a connection, it asks `mayStill` whether the mail may still be sent; null if it may not, and then no route has
   * it. `hurry` ends a wait.
   */
  send(mail: Mail, mayStill: () => Promise<boolean>, hurry: AbortSignal): Promise<RoutedOutcome | null>;
};

type Ports = {
  readonly version: () => number;
  readonly group: () => Group;
  readonly others: () => readonly RouteRun[];
};

const noRoute: RoutedOutcome = {
  route: "",
  outcome: {
    kind: "unavailable",
    error: { code: "no-route", message: "There is no mail route that may carry these mails." },
  },
};

export function createJobRoutes({ version, group, others }: Ports): JobRoutes {
  let known = group();
  let knownAt = version();
  const current = (): Group => {
    if (knownAt === version()) return known;
    knownAt = version();
    known = group();
    return known;
  };

  return {
    key: () => current().key,
    connections: () => connectionsOf(current()),
    carrying: () => carryingOf(current()).map(({ name }) => name),
    perSecond: () => {
      const rates = carryingRunsOf(current()).map(({ pace }) => pace.rate());
      if (rates.length === 0 || rates.includes(null)) return null;
      return rates.reduce<number>((sum, rate) => sum + (rate ?? 0), 0);
    },
    haveOthers: () => {
      const carrying = carryingRunsOf(current());
      return others().some((run) => !carrying.includes(run));
    },
    whyNotBegin: () => {
      const { candidates } = current();
      if (candidates.length === 0) return "no-route";
      if (candidates.some(({ run }) => run.mayBegin())) return null;
      return others().some((run) => run.isUsable()) ? "away" : null;
    },
    send: async (mail, mayStill, hurry) => {
      let tried: RouteRun[] | null = null;
      let last: RoutedOutcome | null = null;
      for (;;) {
        const { candidates, credits } = current();
        const next: Candidate | null =
          nextUsable(candidates, credits, tried) ?? (last === null ? lastResort(candidates) : null);
        if (next === null) return last ?? noRoute;
        const run: RouteRun = next.run;
        if (tried !== null && !(await mayStill())) return null;
        const turn = run.pace.turn(hurry);
        if (turn !== null) {
          await turn;
          if (hurry.aborted || !(await mayStill())) return null;
          if (run.isRetired()) continue;
        }
        const outcome = await unlessWithdrawn(run.send({ ...mail, mayStill }));
        if (outcome === null) return null;
        if (outcome.kind !== "unavailable" && !isUnsendable(outcome)) return { route: run.name, outcome };
        last = { route: run.name, outcome };
        tried = [...(tried ?? []), run];
      }
    },
  };
}

/** The server has heard nothing of the mail, because of what it does not offer; another one may offer it. */
const isUnsendable = (outcome: SendOutcome): boolean =>
  outcome.kind === "failed" && outcome.error.code === "unsendable";

async function unlessWithdrawn(sending: Promise<SendOutcome>): Promise<SendOutcome | null> {
  try {
    return await sending;
  } catch (failure) {
    if (!(failure instanceof MailWithdrawn)) throw failure;
    if (failure.cause !== undefined) throw failure.cause;
    return null;
  }
}

/** The group of the routes that may carry these mails: the same object until a route changes. */
export function groupOf(
  groups: Map<string, Group>,
  opened: readonly { readonly route: MailRoute; readonly run: RouteRun }[],
  sending: Sending,
): Group {
  const routes = routesFor(
    opened.map(({ route }) => route),
    sending,
  );
  const key = routes.map(({ name }) => name).join(" ");
  const known = groups.get(key);
  if (known !== undefined) return known;
  const candidates = routes.flatMap((route) => {
    const run = opened.find((one) => one.route === route)?.run;
    return run === undefined ? [] : [toCandidate(route, run)];
  });
  const made: Group = { key, candidates, credits: [], routes };
  groups.set(key, made);
  return made;
}

/** The routes of the lowest order that can be used; where none can, those of the lowest order. */
const carryingOf = ({ candidates, routes }: Group): readonly MailRoute[] =>
  routes.filter(({ order }) => order === orderOfCarrying(candidates));

const carryingRunsOf = ({ candidates }: Group): readonly RouteRun[] =>
  candidates.flatMap(({ order, run }) => (order === orderOfCarrying(candidates) ? [run] : []));

const orderOfCarrying = (candidates: readonly Candidate[]): number | undefined =>
  (candidates.find(({ run }) => run.isUsable()) ?? candidates[0])?.order;

const connectionsOf = (group: Group): number =>
  Math.max(
    1,
    carryingOf(group).reduce((sum, { connections }) => sum + connections, 0),
  );
