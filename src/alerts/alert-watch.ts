import { setTimeout as pause } from "node:timers/promises";
import {
  type AlertState,
  alertAfter,
  decideAlert,
  neverRaised,
  noStreak,
  type Streak,
  streakAfter,
} from "../domain/alerts/decide.ts";
import { type AlertEvent, type AlertName, alertNames } from "../domain/alerts/events.ts";
import { type AlertLimits, type Figures, measure } from "../domain/alerts/measure.ts";
import { alertsRef, type EventLog } from "../event-log/event-log.ts";
import { VersionConflict } from "../event-log/log-failures.ts";

export type AlertWatch = {
  start(): void;
  stop(): Promise<void>;
};

export type AlertWatchDependencies = {
  readonly log: EventLog;
  readonly figures: { readonly read: () => Promise<Figures> };
  readonly limits: AlertLimits;
  readonly lookEveryMs: number;
  /** Is called with each event that this instance has recorded. */
  readonly decided: (event: AlertEvent) => void;
  /** Is called after every look with the alerts that are raised, by any instance. */
  readonly seen: (raised: ReadonlySet<AlertName>) => void;
};

type Report = (failure: unknown) => void;

/**
 * Looks at the service at intervals, and records when an alert is raised and when it clears. The log says whether an
 * alert is raised, and every append is guarded by the sequence of the last one: of several instances only one records
 * the change, and an instance that restarts does not repeat it. Memory holds only how often in a row a value was seen.
 * The states are read before the figures: figures from before a change by another instance, which this one may have stood
 * still with, decide nothing about what came after them.
 */
export function createAlertWatch(dependencies: AlertWatchDependencies, report: Report): AlertWatch {
  const { figures, limits, lookEveryMs, seen } = dependencies;
  const streaks = new Map<AlertName, Streak>();
  /** Which raise of an alert its streak is about. */
  const raises = new Map<AlertName, number>();
  const stopping = new AbortController();
  let loop: Promise<void> | null = null;
  /** As the last look found them. */
  let known: States = { ofAlert: new Map(), sequence: 0 };

  const look = async (): Promise<void> => {
    known = await readStates(dependencies.log, known);
    let before = known;
    const found = await figures.read();
    for (const alert of alertNames) {
      const { isRaised, raised } = stateOf(before, alert);
      // What was seen before the alert was raised says nothing about whether it is over.
      if (raised !== null && raised.sequence !== raises.get(alert)) {
        raises.set(alert, raised.sequence);
        streaks.delete(alert);
      }
      streaks.set(alert, streakAfter(streaks.get(alert) ?? noStreak, measure(alert, found, limits, isRaised)));
    }
    for (const alert of alertNames) before = await decide(dependencies, alert, found, streaks, before);
    seen(new Set(alertNames.filter((alert) => stateOf(before, alert).isRaised)));
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // After a decision of another instance, the figures of this look are out of date; the next look comes anyway.
      await look().catch((failure: unknown) => (failure instanceof VersionConflict ? undefined : report(failure)));
      await pause(lookEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };

  return {
    start: () => {
      loop ??= run();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}

/** The state of all alerts according to the log, and the sequence of the last record. */
type States = { readonly ofAlert: ReadonlyMap<AlertName, AlertState>; readonly sequence: number };

const stateOf = ({ ofAlert }: States, alert: AlertName): AlertState => ofAlert.get(alert) ?? neverRaised;

/** Reads what was recorded since, or all where the log has another history than it had. */
async function readStates(log: EventLog, known: States): Promise<States> {
  const entries = await log.readAlerts(known.sequence || undefined);
  const isMore = entries[0]?.sequence === known.sequence;
  const ofAlert = new Map(isMore ? known.ofAlert : []);
  for (const entry of isMore ? entries.slice(1) : entries) {
    // Events that only a newer release knows change nothing here, but they advance the sequence of the subject.
    if (!("event" in entry)) continue;
    const { alert } = entry.event.data;
    ofAlert.set(alert, alertAfter(ofAlert.get(alert) ?? neverRaised, entry));
  }
  return { ofAlert, sequence: entries.at(-1)?.sequence ?? 0 };
}

/** Records a change of one alert, if there is one; returns the states after it. Throws VersionConflict. */
async function decide(
  { log, limits, decided }: AlertWatchDependencies,
  alert: AlertName,
  found: Figures,
  streaks: Map<AlertName, Streak>,
  before: States,
): Promise<States> {
  const state = stateOf(before, alert);
  const measured = measure(alert, found, limits, state.isRaised);
  const streak = streaks.get(alert) ?? noStreak;
  const event = decideAlert(alert, state, measured, streak, limits, new Date().toISOString());
  if (event === null) return before;
  const id = `alerts/${alert}/${before.sequence}/${event.type}`;
  const cause = { actor: "alerts", correlationId: null, causationId: state.raised?.id ?? null, traceparent: null };
  const sequence = await log.append(alertsRef, [{ ...cause, id, event }], before.sequence);
  decided(event);
  return { ofAlert: new Map([...before.ofAlert, [alert, alertAfter(state, { id, event, sequence })]]), sequence };
}
