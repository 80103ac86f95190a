import { durationInWords, shareInWords } from "../figures-in-words.ts";
import { type AlertEvent, type AlertFigure, type AlertName, isShare } from "./events.ts";
import { mostLettersCounted } from "./measure.ts";

/** The titles of alerts, for people. */
export const alertTitles: Readonly<Record<AlertName, string>> = {
  "failure-rate": "Mails fail",
  "bounce-rate": "Mails come back",
  "complaint-rate": "Recipients complain",
  "oldest-waiting": "Jobs wait",
  "dead-letters": "Jobs give up",
  "open-dead-letters": "Dead letters are open",
  "stopped-mailings": "Mailings have stopped",
  "projection-lag": "Read models are behind",
};

export function alertInWords({ type, data }: AlertEvent): string {
  if (type === "AlertRaised") return raisedInWords(data);
  if (data.threshold === null) return `The alert "${alertTitles[data.alert]}" was turned off while it was raised.`;
  // Cleared because too few mails end to measure a share.
  const isStillOver = isShare(data.alert) && (data.value ?? 0) > data.threshold;
  return `No longer${isStillOver ? ", as hardly any mails are sent" : ""}: ${findingOf(data)}.`;
}

/** The sentence about a raised alert, with the figure of then or of now. */
export function raisedInWords(figure: AlertFigure): string {
  const finding = findingOf(figure);
  return `${finding.charAt(0).toUpperCase()}${finding.slice(1)}; the limit is ${limitOf(figure)}.`;
}

function findingOf({ alert, value, windowSeconds, about }: AlertFigure): string {
  const within = `in the last ${windowSeconds === 3600 ? "hour" : durationInWords(windowSeconds ?? 0)}`;
  const mails = about === null ? "mails" : `the mails of the ${about}`;
  switch (alert) {
    case "failure-rate":
      return `${shareInWords(value ?? 0)} of ${mails} failed ${within}`;
    case "bounce-rate":
      return `${shareInWords(value ?? 0)} of ${mails} came back ${within}`;
    case "complaint-rate":
      return `${shareInWords(value ?? 0)} of ${about === null ? "recipients" : `the recipients of ${mails}`} complained ${within}`;
    case "dead-letters":
      return `${value === 1 ? "1 job" : `${value ?? 0} jobs`} gave up ${within}`;
    case "open-dead-letters": {
      const count = `${value ?? 0}${(value ?? 0) >= mostLettersCounted ? " or more" : ""}`;
      return `${count} ${value === 1 ? "dead letter waits" : "dead letters wait"} for a decision`;
    }
    case "stopped-mailings":
      return `${value === 1 ? "1 mailing has" : `${value ?? 0} mailings have`} stopped because too much went wrong`;
    case "oldest-waiting":
      if (about === null) return "no job waits";
      return `the oldest ${about}-priority job has waited ${durationInWords(value ?? 0)}`;
    case "projection-lag":
      if (value === null) return "the lag of the read models is unknown, as their database is down";
      return about === null
        ? "every read model is up to date"
        : `the read model ${about} is ${durationInWords(value)} behind`;
  }
}

function limitOf({ alert, threshold }: AlertFigure): string {
  // Shown as it was set: rounded, it could equal the measured value.
  if (isShare(alert)) return `${Number(((threshold ?? 0) * 100).toFixed(4))} %`;
  const isAge = alert === "oldest-waiting" || alert === "projection-lag";
  return isAge ? durationInWords(threshold ?? 0) : String(threshold);
}
