import type { Liquid } from "liquidjs";

/** A name or an offset of a zone, where `Date` reads one. */
const zone = /Z$|\b(?:UTC|GMT|[ECMP][SD]T)\b|:\d\d(?:\.\d+)?\s*[+-]\d\d:?\d\d/i;

/** `Date` reads most texts without a zone in that of its host, and the same day in UTC. */
function readInUtc(value: unknown): unknown {
  if (typeof value !== "string" || zone.test(value) || /^\d+$/.test(value)) return value;
  const inUtc = `${value}Z`;
  return Number.isNaN(Date.parse(inUtc)) ? value : inUtc;
}

/** The filters of dates read in UTC what names no zone: otherwise a mail would depend on the host that writes it. */
export function readDatesInUtc({ filters }: Liquid): void {
  for (const [name, filter] of Object.entries(filters)) {
    if (!/^date(?:_|$)/.test(name) || typeof filter !== "function") continue;
    filters[name] = function inUtc(value: unknown, ...args: unknown[]): unknown {
      return filter.call(this, readInUtc(value), ...args);
    };
  }
}
