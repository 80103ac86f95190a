import type { AlertLimits, Figures } from "../../src/domain/alerts/measure.ts";

export const alertLimits: AlertLimits = {
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
  windowSeconds: 900,
  leastMails: 100,
  quietSeconds: 0,
};

/** Of a service that does well. */
export const fineFigures: Figures = {
  ended: { sent: 1000, failed: 0, unknown: 0, bounced: 0, complained: 0, deadLetters: 0 },
  groups: [],
  oldestWaiting: { seconds: 0, of: null },
  openDeadLetters: 0,
  stoppedMailings: 0,
  lag: { seconds: 0, of: null },
  lagUnknownSeconds: 0,
};
