import { expect } from "chai";
import {
  type AlertState,
  alertAfter,
  decideAlert,
  neverRaised,
  noStreak,
  type Streak,
  streakAfter,
} from "../../src/domain/alerts/decide.ts";
import { type AlertEvent, type AlertName, alertNames } from "../../src/domain/alerts/events.ts";
import type { AlertLimits } from "../../src/domain/alerts/limits.ts";
import { type Figures, measure } from "../../src/domain/alerts/measure.ts";
import { alertInWords } from "../../src/domain/alerts/words.ts";

const limits: AlertLimits = {
  thresholds: { "failure-rate": 0.1, "oldest-waiting": 300, "dead-letters": 10, "projection-lag": 60 },
  windowSeconds: 900,
  leastMails: 100,
  quietSeconds: 300,
};
const fine: Figures = {
  ended: { sent: 1000, failed: 0, unknown: 0, deadLetters: 0 },
  oldestWaiting: { seconds: 0, of: null },
  lag: { seconds: 0, of: null },
  lagUnknownSeconds: 0,
};
const failing = (failed: number, sent: number): Figures => ({
  ...fine,
  ended: { sent, failed, unknown: 0, deadLetters: 0 },
});
const unknown: Figures = { ended: null, oldestWaiting: null, lag: null, lagUnknownSeconds: 61 };

const begin = Date.parse("2026-11-21T09:30:00.000Z");
const lookEverySeconds = 15;

/** What is recorded of an alert while the service does as the looks say, one after the other. */
function watched(
  alert: AlertName,
  looks: readonly Figures[],
  changed: Partial<AlertLimits> = {},
): readonly AlertEvent[] {
  const own = { ...limits, ...changed };
  const recorded: AlertEvent[] = [];
  let state: AlertState = neverRaised;
  let streak: Streak = noStreak;
  for (const [index, figures] of looks.entries()) {
    const measured = measure(alert, figures, own, state.isRaised);
    streak = streakAfter(streak, measured);
    const at = new Date(begin + index * lookEverySeconds * 1000).toISOString();
    const event = decideAlert(alert, state, measured, streak, own, at);
    if (event === null) continue;
    recorded.push(event);
    state = alertAfter(state, { sequence: index + 1, id: `event-${index}`, event });
  }
  return recorded;
}

const times = (count: number, figures: Figures): readonly Figures[] => Array.from({ length: count }, () => figures);
const typesOf = (events: readonly AlertEvent[]): readonly string[] => events.map(({ type }) => type);

describe("An alert", () => {
  const bad: Readonly<Record<AlertName, Figures>> = {
    "failure-rate": failing(200, 800),
    "oldest-waiting": { ...fine, oldestWaiting: { seconds: 301, of: "high" } },
    "dead-letters": { ...fine, ended: { sent: 0, failed: 0, unknown: 0, deadLetters: 11 } },
    "projection-lag": { ...fine, lag: { seconds: 61, of: "stats" } },
  };
  for (const alert of alertNames) {
    it(`is raised once and cleared once: ${alert}`, () => {
      const events = watched(alert, [...times(3, fine), ...times(20, bad[alert]), ...times(20, fine)]);
      expect(typesOf(events)).to.deep.equal(["AlertRaised", "AlertCleared"]);
      expect(events[0]?.data).to.include({ alert, threshold: limits.thresholds[alert] });
      expect(events[1]?.data).to.include({ raisedSequence: 5 });
    });

    it(`is not raised by what the others are raised by: ${alert}`, () => {
      for (const other of alertNames) {
        if (other !== alert) expect(watched(alert, times(10, bad[other]))).to.deep.equal([]);
      }
    });

    it(`is never raised where it is off: ${alert}`, () => {
      const thresholds = { ...limits.thresholds, [alert]: null };
      expect(watched(alert, times(10, bad[alert]), { thresholds })).to.deep.equal([]);
    });
  }

  it("is not raised by one look alone", () => {
    expect(watched("failure-rate", [fine, failing(200, 800), fine, failing(200, 800), fine])).to.deep.equal([]);
  });

  it("that swings about its threshold is told once", () => {
    const swinging = Array.from({ length: 100 }, (_, index) => failing(index % 2 === 0 ? 105 : 95, 900));
    expect(typesOf(watched("failure-rate", [...times(2, failing(200, 800)), ...swinging]))).to.deep.equal([
      "AlertRaised",
    ]);
  });

  it("that comes again too soon is raised only after a while", () => {
    const again = [...times(2, failing(200, 800)), ...times(3, fine), ...times(40, failing(200, 800))];
    const events = watched("failure-rate", again);
    expect(typesOf(events)).to.deep.equal(["AlertRaised", "AlertCleared", "AlertRaised"]);
    const [, cleared, raised] = events.map(({ at }) => Date.parse(at));
    expect((raised ?? 0) - (cleared ?? 0)).to.equal(limits.quietSeconds * 1000);
  });

  it("of failures looks at no share of few mails, and once raised not at one of hardly any", () => {
    expect(watched("failure-rate", times(10, failing(50, 40)))).to.deep.equal([]);
    const fewer = [...times(3, failing(50, 60)), ...times(10, failing(30, 30))];
    expect(typesOf(watched("failure-rate", fewer))).to.deep.equal(["AlertRaised"]);
    expect(typesOf(watched("failure-rate", [...fewer, ...times(3, failing(5, 5))]))).to.deep.equal([
      "AlertRaised",
      "AlertCleared",
    ]);
  });

  it("stays as it is while nobody can tell", () => {
    const events = watched("oldest-waiting", [...times(2, bad["oldest-waiting"]), ...times(50, unknown), fine, fine]);
    expect(typesOf(events)).to.deep.equal(["AlertRaised"]);
    expect(watched("failure-rate", times(50, unknown))).to.deep.equal([]);
  });

  it("is raised where nobody can tell how far the read models are, and cleared once that is known", () => {
    expect(watched("projection-lag", times(10, { ...unknown, lagUnknownSeconds: 59 }))).to.deep.equal([]);
    const events = watched("projection-lag", [...times(5, unknown), ...times(5, fine)]);
    expect(typesOf(events)).to.deep.equal(["AlertRaised", "AlertCleared"]);
    expect(events[0]?.data).to.deep.include({ value: null, about: null });
  });

  it("that is turned off while it is raised is cleared", () => {
    const raised = { isRaised: true, since: "2026-11-21T09:30:00.000Z", raised: { sequence: 7, id: "seven" } };
    const off = { ...limits, thresholds: { ...limits.thresholds, "dead-letters": null } };
    const event = decideAlert("dead-letters", raised, null, noStreak, off, "2026-11-21T10:00:00.000Z");
    expect(event?.data).to.deep.include({ threshold: null, value: null, raisedSequence: 7 });
    expect(event && alertInWords(event)).to.equal("Jobs give up: nobody looks any more.");
  });
});

describe("An alert in words", () => {
  const words = (alert: AlertName, looks: readonly Figures[]): readonly string[] =>
    watched(alert, looks).map(alertInWords);

  it("says what was found, and what the limit is", () => {
    const late = { ...fine, oldestWaiting: { seconds: 1260, of: "low" } };
    const behind = { ...fine, lag: { seconds: 75.4, of: "stats" } };
    const many = { ...fine, ended: { sent: 0, failed: 0, unknown: 0, deadLetters: 12 } };
    expect([
      ...words("failure-rate", [...times(2, failing(125, 875)), ...times(3, failing(10, 990))]),
      ...words("oldest-waiting", [...times(2, late), ...times(3, fine)]),
      ...words("dead-letters", times(2, many)),
      ...words("projection-lag", [...times(2, behind), ...times(3, fine)]),
      ...words("projection-lag", times(2, unknown)),
    ]).to.deep.equal([
      "Mails fail: 12.5 % of those that ended within 15 min; the limit is 10 %.",
      "No longer. Mails fail: 1 % of those that ended within 15 min.",
      "Jobs wait: the oldest, of priority low, since 21 min; the limit is 5 min.",
      "No longer. Jobs wait: none waits.",
      "Jobs give up: 12 dead letters within 15 min; the limit is 10.",
      "Read models are behind: stats by 75 s; the limit is 60 s.",
      "No longer. Read models are behind: none is.",
      "Read models are behind: nobody can tell how far, as their database is away; the limit is 60 s.",
    ]);
  });
});
