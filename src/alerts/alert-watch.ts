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

/** Few instances decide at the same moment, and the next look comes anyway. */
const maxConflicts = 5;

/**
 * Looks at the service at intervals, and records when an alert is raised and when it clears. The log says whether an
 * alert is raised, and every append is guarded by the sequence of the last one: of several instances only one records
 * the change, and an instance that restarts does not repeat it. Memory holds only how often in a row a value was seen.
 */
export function createAlertWatch(dependencies: AlertWatchDependencies, report: Report): AlertWatch {
  const { figures, limits, lookEveryMs, seen } = dependencies;
  const streaks = new Map<AlertName, Streak>();
  const stopping = new AbortController();
  let loop: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    const found = await figures.read();
    let before = await readStates(dependencies.log);
    for (const alert of alertNames) {
      const isRaised = stateOf(before, alert).isRaised;
      streaks.set(alert, streakAfter(streaks.get(alert) ?? noStreak, measure(alert, found, limits, isRaised)));
    }
    for (const alert of alertNames) before = await decide(dependencies, alert, found, streaks, before);
    seen(new Set(alertNames.filter((alert) => stateOf(before, alert).isRaised)));
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await look().catch(report);
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

async function readStates(log: EventLog): Promise<States> {
  const ofAlert = new Map<AlertName, AlertState>();
  const entries = await log.readAlerts();
  for (const entry of entries) {
    // Events that only a newer release knows change nothing here, but they advance the sequence of the subject.
    if (!("event" in entry)) continue;
    const { alert } = entry.event.data;
    ofAlert.set(alert, alertAfter(ofAlert.get(alert) ?? neverRaised, entry));
  }
  return { ofAlert, sequence: entries.at(-1)?.sequence ?? 0 };
}

/** Records a change of one alert, if there is one; returns the states after it. */
async function decide(
  { log, limits, decided }: AlertWatchDependencies,
  alert: AlertName,
  found: Figures,
  streaks: Map<AlertName, Streak>,
  from: States,
): Promise<States> {
  let before = from;
  for (let conflicts = 0; ; conflicts += 1) {
    const state = stateOf(before, alert);
    const measured = measure(alert, found, limits, state.isRaised);
    const streak = streaks.get(alert) ?? noStreak;
    const event = decideAlert(alert, state, measured, streak, limits, new Date().toISOString());
    if (event === null) return before;
    const { sequence } = before;
    const id = `alerts/${alert}/${sequence}/${event.type}`;
    const cause = { actor: "alerts", correlationId: null, causationId: state.raised?.id ?? null, traceparent: null };
    try {
      const stored = { id, event, sequence: await log.append(alertsRef, [{ ...cause, id, event }], sequence) };
      decided(event);
      return {
        ofAlert: new Map([...before.ofAlert, [alert, alertAfter(state, stored)]]),
        sequence: stored.sequence,
      };
    } catch (failure) {
      if (!(failure instanceof VersionConflict) || conflicts === maxConflicts) throw failure;
      before = await readStates(log);
    }
  }
}
