import { type Static, type TObject, Type } from "typebox";
import type { Brakes } from "../domain/mailing/brakes.ts";
import { isTimeZone, type SendingWindow, weekdays } from "../domain/mailing/window.ts";
import { type Fault, faultAt, shown } from "../schemas/fault.ts";
import { isObject } from "../schemas/request-form.ts";
import { closed } from "../schemas/request-schema.ts";

const clock = { pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$", description: "a time of the day such as 08:30" };

const share = Type.Number({ minimum: 0, exclusiveMaximum: 1, description: "a share from 0 to below 1" });

/** How fast a mailing goes out, when, and what stops it. */
export const brakeFields = {
  rate: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: "recipients an hour, from 1 to 1000000000" }),
  ),
  rampUp: Type.Optional(
    Type.Object(
      {
        firstHour: Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description: "recipients, from 1 to 1000000000",
        }),
        growth: Type.Number({ exclusiveMinimum: 1, maximum: 100, description: "a number above 1 and up to 100" }),
      },
      { ...closed, description: "an object with firstHour and growth" },
    ),
  ),
  window: Type.Optional(
    Type.Object(
      {
        // With their type, equal ones are found in one look at each; without it, in a look at each pair.
        days: Type.Array(Type.Enum([...weekdays], { type: "string", description: `one of ${weekdays.join(", ")}` }), {
          minItems: 1,
          maxItems: 7,
          uniqueItems: true,
          description: `different ones of ${weekdays.join(", ")}`,
        }),
        from: Type.String(clock),
        to: Type.String({ ...clock, pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" }),
        timeZone: Type.String({ minLength: 1, maxLength: 100, description: "a time zone such as Europe/Berlin" }),
      },
      { ...closed, description: "an object with days, from, to and timeZone" },
    ),
  ),
  stopWhen: Type.Optional(
    Type.Object(
      {
        failureRate: Type.Optional(share),
        bounceRate: Type.Optional(share),
        complaintRate: Type.Optional(share),
        after: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: "recipients, from 1 to 1000000000" }),
        ),
      },
      { ...closed, description: "an object with failureRate, bounceRate or complaintRate, and after" },
    ),
  ),
};

const rates = ["failureRate", "bounceRate", "complaintRate"];

/** A share of fewer recipients says little. */
const usualAfter = 100;

export type BrakesAsked = Static<TObject<typeof brakeFields>>;

/** What each field allows, and they do not allow together. */
export function faultsOfBrakes({ window, stopWhen }: Readonly<Record<string, unknown>>): readonly Fault[] {
  const faults: Fault[] = [];
  if (isObject(stopWhen) && rates.every((name) => !(name in stopWhen))) {
    faults.push(faultAt("/stopWhen", `has no share; expected one of ${rates.join(", ")}`));
  }
  if (!isObject(window)) return faults;
  const { from, to, timeZone } = window;
  if (typeof from === "string" && typeof to === "string" && to <= from) {
    faults.push(faultAt("/window/to", `is ${shown(to)}; expected a time after ${shown(from)}`));
  }
  if (typeof timeZone === "string" && !isTimeZone(timeZone)) {
    faults.push(faultAt("/window/timeZone", `is ${shown(timeZone)}; expected a time zone such as Europe/Berlin`));
  }
  return faults;
}

/** Null for a mailing that asks for none. */
export function brakesOf({ rate, rampUp, window, stopWhen }: BrakesAsked): Brakes | null {
  if (rate === undefined && rampUp === undefined && window === undefined && stopWhen === undefined) return null;
  return {
    ratePerHour: rate ?? null,
    rampUp: rampUp ?? null,
    window: (window as SendingWindow | undefined) ?? null,
    stopWhen:
      stopWhen === undefined
        ? null
        : { ...stopWhen, failureRate: stopWhen.failureRate ?? null, after: stopWhen.after ?? usualAfter },
  };
}
