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
import { type AlertLimits, type Figures, type GroupOfMails, measure } from "../../src/domain/alerts/measure.ts";
import { alertInWords } from "../../src/domain/alerts/words.ts";
import { durationInWords, shareInWords } from "../../src/domain/figures-in-words.ts";

const limits: AlertLimits = {
  thresholds: {
    "failure-rate": 0.1,
    "bounce-rate": 0.05,
    "complaint-rate": 0.003,
    "oldest-waiting": 300,
    "dead-letters": 10,
    "open-dead-letters": 25,
    "stopped-mailings": 0,
    "projection-lag": 60,
  },
  windowSeconds: 3600,
  leastMails: 100,
  quietSeconds: 300,
};
const fine: Figures = {
  ended: { sent: 1000, failed: 0, unknown: 0, bounced: 0, complained: 0, deadLetters: 0 },
  groups: [],
  oldestWaiting: { seconds: 0, of: null },
  openDeadLetters: 0,
  stoppedMailings: 0,
  lag: { seconds: 0, of: null },
  lagUnknownSeconds: 0,
};
const failing = (failed: number, sent: number): Figures => ({
  ...fine,
  ended: { sent, failed, unknown: 0, bounced: 0, complained: 0, deadLetters: 0 },
});
const cameBack = (some: Partial<NonNullable<Figures["ended"]>>): Figures => ({
  ...fine,
  ended: { sent: 1000, failed: 0, unknown: 0, bounced: 0, complained: 0, deadLetters: 0, ...some },
});
const unknown: Figures = {
  ended: null,
  groups: [],
  oldestWaiting: null,
  openDeadLetters: null,
  stoppedMailings: null,
  lag: null,
  lagUnknownSeconds: 61,
};

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
    "bounce-rate": cameBack({ bounced: 51 }),
    "complaint-rate": cameBack({ complained: 4 }),
    "oldest-waiting": { ...fine, oldestWaiting: { seconds: 301, of: "high" } },
    "dead-letters": { ...fine, ended: { sent: 0, failed: 0, unknown: 0, bounced: 0, complained: 0, deadLetters: 11 } },
    // However long ago their jobs gave up.
    "open-dead-letters": { ...fine, openDeadLetters: 51 },
    "stopped-mailings": { ...fine, stoppedMailings: 1 },
    "projection-lag": { ...fine, lag: { seconds: 61, of: "stats" } },
  };
  it("is raised by the first complaint where the threshold is 0", () => {
    const thresholds = { ...limits.thresholds, "complaint-rate": 0 };
    const events = watched("complaint-rate", times(10, cameBack({ complained: 1 })), { thresholds });
    expect(typesOf(events)).to.deep.equal(["AlertRaised"]);
  });

  it("stays raised by complaints while somewhat fewer mails are sent than it took to be raised", () => {
    const few = times(20, cameBack({ complained: 10, sent: 600 }));
    expect(watched("complaint-rate", few)).to.deep.equal([]);
    expect(typesOf(watched("complaint-rate", [...times(20, cameBack({ complained: 10 })), ...few]))).to.deep.equal([
      "AlertRaised",
    ]);
  });

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

  it("is raised where the clock was set back since it was cleared", () => {
    const cleared = { isRaised: false, since: new Date(begin + 86_400_000).toISOString(), raised: null };
    const [bad, at] = [failing(200, 800), new Date(begin).toISOString()];
    const measured = measure("failure-rate", bad, limits, false);
    const event = decideAlert("failure-rate", cleared, measured, { over: 2, within: 0 }, limits, at);
    expect(event?.type).to.equal("AlertRaised");
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

  it("stays as it is while the figure is unknown", () => {
    const events = watched("oldest-waiting", [...times(2, bad["oldest-waiting"]), ...times(50, unknown), fine, fine]);
    expect(typesOf(events)).to.deep.equal(["AlertRaised"]);
    expect(watched("failure-rate", times(50, unknown))).to.deep.equal([]);
  });

  it("is raised if the lag of the read models is unknown, and clears once it is known", () => {
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
    expect(event && alertInWords(event)).to.equal('The alert "Jobs give up" was turned off while it was raised.');
  });
});

describe("An alert about some of the mails", () => {
  const group = (of: string, some: Partial<GroupOfMails>): GroupOfMails => ({
    of,
    ...{ sent: 200, failed: 0, bounced: 0, complained: 0 },
    ...some,
  });
  const refusing: Figures = {
    ...fine,
    ended: { sent: 100_000, failed: 100, unknown: 0, bounced: 40, complained: 2, deadLetters: 0 },
    groups: [
      group("receiver gmail.com", { sent: 90_000, failed: 10 }),
      group("receiver example.com", { failed: 90, bounced: 30, complained: 2, sent: 700 }),
      group("route second", { bounced: 9 }),
    ],
  };

  it("is raised though all mails together are fine, names the worst, and is cleared once none is over", () => {
    const words = (alert: AlertName) =>
      watched(alert, [...times(2, refusing), ...times(3, fine)]).map((event) => alertInWords(event));
    expect(words("failure-rate")[0]).to.equal(
      "11 % of the mails of the receiver example.com failed in the last hour; the limit is 10 %.",
    );
    expect(words("failure-rate")).to.have.lengthOf(2);
    expect(words("bounce-rate")).to.deep.equal([]);
    const worse = { ...refusing, groups: [...refusing.groups, group("sender example.org", { bounced: 12 })] };
    expect(watched("bounce-rate", times(2, worse)).map((event) => alertInWords(event))).to.deep.equal([
      "6 % of the mails of the sender example.org came back in the last hour; the limit is 5 %.",
    ]);
  });

  it("names no group that holds as many mails as all: it is counted by whole hours, or its read model is ahead", () => {
    const ended = { sent: 80, failed: 2, unknown: 0, bounced: 0, complained: 0, deadLetters: 0 };
    const ahead = { ...fine, ended, groups: [group("route first", { sent: 60, failed: 60 })] };
    expect(watched("failure-rate", times(2, ahead)).map((event) => alertInWords(event))).to.deep.equal([
      "50 % of mails failed in the last hour; the limit is 10 %.",
    ]);
  });

  it("is not raised for few mails, nor cleared while one of several is over", () => {
    const few = { ...fine, groups: [group("receiver example.com", { sent: 20, failed: 70 })] };
    expect(watched("failure-rate", times(4, few))).to.deep.equal([]);
    const swapped = { ...refusing, groups: [group("route third", { failed: 100 })] };
    expect(watched("failure-rate", [...times(2, refusing), ...times(5, swapped)])).to.have.lengthOf(1);
  });
});

describe("An alert in words", () => {
  const words = (alert: AlertName, looks: readonly Figures[], changed: Partial<AlertLimits> = {}): readonly string[] =>
    watched(alert, looks, changed).map(alertInWords);

  it("is a sentence that says what was found, in which time, and what the limit is", () => {
    const late = { ...fine, oldestWaiting: { seconds: 309.719, of: "low" } };
    const behind = { ...fine, lag: { seconds: 75.4, of: "stats" } };
    const many = { ...fine, ended: { sent: 0, failed: 0, unknown: 0, bounced: 0, complained: 0, deadLetters: 12 } };
    const open = (openDeadLetters: number) => ({ ...fine, openDeadLetters });
    expect([
      ...words("failure-rate", [...times(2, failing(130, 870)), ...times(3, failing(53, 947))]),
      ...words("failure-rate", times(2, failing(130, 870)), { windowSeconds: 900 }),
      ...words("failure-rate", times(2, failing(126, 874)), {
        thresholds: { ...limits.thresholds, "failure-rate": 0.125 },
      }),
      ...words("oldest-waiting", [...times(2, late), ...times(3, fine)]),
      ...words("dead-letters", times(2, many)),
      ...words("open-dead-letters", [...times(2, open(51)), ...times(3, open(1))]),
      ...words("open-dead-letters", times(2, open(100_000))),
      ...words("stopped-mailings", [...times(2, { ...fine, stoppedMailings: 2 }), ...times(3, fine)]),
      ...words("projection-lag", [...times(2, behind), ...times(3, fine)]),
      ...words("projection-lag", times(2, unknown)),
    ]).to.deep.equal([
      "13 % of mails failed in the last hour; the limit is 10 %.",
      "No longer: 5.3 % of mails failed in the last hour.",
      "13 % of mails failed in the last 15 min; the limit is 10 %.",
      "13 % of mails failed in the last hour; the limit is 12.5 %.",
      "The oldest low-priority job has waited 5 min 10 s; the limit is 5 min.",
      "No longer: no job waits.",
      "12 jobs gave up in the last hour; the limit is 10.",
      "51 dead letters wait for a decision; the limit is 25.",
      "No longer: 1 dead letter waits for a decision.",
      "100000 or more dead letters wait for a decision; the limit is 25.",
      "2 mailings have stopped because too much went wrong; the limit is 0.",
      "No longer: 0 mailings have stopped because too much went wrong.",
      "The read model stats is 1 min 15 s behind; the limit is 1 min.",
      "No longer: every read model is up to date.",
      "The lag of the read models is unknown, as their database is down; the limit is 1 min.",
    ]);
  });

  it("does not call a share nothing because it is one of few mails", () => {
    const events = watched("failure-rate", [...times(2, failing(50, 60)), ...times(3, failing(5, 5))]);
    expect(events.map(({ data }) => data.value)).to.deep.equal([0.4545, 0.5]);
    expect(events.map(alertInWords).at(-1)).to.equal(
      "No longer, as hardly any mails are sent: 50 % of mails failed in the last hour.",
    );
  });

  it("has two units of time at most, and none that is nothing", () => {
    const lasting = [0, 45, 60, 310, 3600, 7800, 86_400, 90_061].map(durationInWords);
    expect(lasting).to.deep.equal(["0 s", "45 s", "1 min", "5 min 10 s", "1 h", "2 h 10 min", "1 d", "1 d 1 h"]);
    expect([0, 0.0005, 0.05, 0.0526, 0.13, 1].map(shareInWords)).to.deep.equal([
      "0 %",
      "0.1 %",
      "5 %",
      "5.3 %",
      "13 %",
      "100 %",
    ]);
  });
});
