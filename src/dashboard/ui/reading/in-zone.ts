/** `Mon, 2026-11-23 08:30`, by the clocks of a time zone; null where this browser does not know the zone. */
export function inZone(instant: string, timeZone: string): string | null {
  try {
    const at = new Date(instant);
    const day = at.toLocaleDateString("en", { timeZone, weekday: "short" });
    return `${day}, ${at.toLocaleString("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" })}`;
  } catch {
    return null;
  }
}

export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
