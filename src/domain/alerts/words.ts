import type { AlertEvent, AlertFigure, AlertName } from "./events.ts";

/** For people: what an alert is about, and what was found. */
export const alertTitles: Readonly<Record<AlertName, string>> = {
  "failure-rate": "Mails fail",
  "oldest-waiting": "Jobs wait",
  "dead-letters": "Jobs give up",
  "projection-lag": "Read models are behind",
};

export function alertInWords({ type, data }: AlertEvent): string {
  const found = `${alertTitles[data.alert]}: ${findingOf(data)}`;
  if (type === "AlertRaised") return `${found}; the limit is ${limitOf(data)}.`;
  return data.threshold === null ? `${alertTitles[data.alert]}: nobody looks any more.` : `No longer. ${found}.`;
}

function findingOf({ alert, value, windowSeconds, about }: AlertFigure): string {
  const within = `within ${duration(windowSeconds ?? 0)}`;
  switch (alert) {
    case "failure-rate":
      return `${percent(value ?? 0)} of those that ended ${within}`;
    case "dead-letters":
      return `${value ?? 0} dead letters ${within}`;
    case "oldest-waiting":
      return about === null ? "none waits" : `the oldest, of priority ${about}, since ${duration(value ?? 0)}`;
    case "projection-lag":
      if (value === null) return "nobody can tell how far, as their database is away";
      return about === null ? "none is" : `${about} by ${duration(value)}`;
  }
}

function limitOf({ alert, threshold }: AlertFigure): string {
  if (alert === "failure-rate") return percent(threshold ?? 0);
  return alert === "dead-letters" ? String(threshold) : duration(threshold ?? 0);
}

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

const duration = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
