import { type AlertLimits, mostLettersCounted } from "../domain/alerts/measure.ts";
import { isEmailAddress } from "../schemas/email-address.ts";
import type { AllowedNetworks } from "../signed-post/addresses.ts";
import type { SettingReader } from "./setting-reader.ts";
import { readCallableUrl } from "./webhook-settings.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

export function readAlertSettings(read: SettingReader, allowed: AllowedNetworks) {
  return {
    limits: readLimits(read),
    lookEveryMs: read.whole("ALERT_INTERVAL", 15_000, 100, 3_600_000),
    /** Null for none. It may contain a secret. */
    webhookUrl: readCallableUrl(read, "ALERT_WEBHOOK", allowed),
    mailTo:
      read.list("ALERT_MAIL_TO", { isItem: isEmailAddress, expected: "e-mail addresses with commas between" }) ?? [],
  };
}

function readLimits(read: SettingReader): AlertLimits {
  const orOff = <Value>(name: string, value: () => Value): Value | null =>
    read.raw(name)?.toLowerCase() === "off" ? null : value();
  const seconds = (name: string, fallbackMs: number): number | null =>
    orOff(name, () => read.whole(name, fallbackMs, 1000, dayMs) / 1000);
  return {
    thresholds: {
      "failure-rate": orOff("ALERT_FAILURE_RATE", () => read.decimal("ALERT_FAILURE_RATE", 0.05, 0, 1)),
      "bounce-rate": orOff("ALERT_BOUNCE_RATE", () => read.decimal("ALERT_BOUNCE_RATE", 0.05, 0, 1)),
      "complaint-rate": orOff("ALERT_COMPLAINT_RATE", () => read.decimal("ALERT_COMPLAINT_RATE", 0.003, 0, 1)),
      "oldest-waiting": seconds("ALERT_OLDEST_WAITING", 5 * minuteMs),
      "dead-letters": orOff("ALERT_DEAD_LETTERS", () => read.whole("ALERT_DEAD_LETTERS", 10, 0, 1_000_000)),
      "open-dead-letters": orOff("ALERT_OPEN_DEAD_LETTERS", () =>
        read.whole("ALERT_OPEN_DEAD_LETTERS", 25, 0, mostLettersCounted - 1),
      ),
      "stopped-mailings": orOff("ALERT_STOPPED_MAILINGS", () => read.whole("ALERT_STOPPED_MAILINGS", 0, 0, 1_000_000)),
      "projection-lag": seconds("ALERT_PROJECTION_LAG", minuteMs),
    },
    // The read model counts by the minute. An hour is also what /api/stats and the tiles of the dashboard count.
    windowSeconds: Math.ceil(read.whole("ALERT_WINDOW", 60 * minuteMs, minuteMs, dayMs) / minuteMs) * 60,
    leastMails: read.whole("ALERT_LEAST_MAILS", 100, 1, 1_000_000),
    quietSeconds: read.whole("ALERT_QUIET", 5 * minuteMs, 0, dayMs) / 1000,
  };
}
