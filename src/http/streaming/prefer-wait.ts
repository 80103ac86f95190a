const maxSeconds = 60;

/** One preference of RFC 7240, its parameters left aside: a name, and a value that may stand in quotes. */
const preference = /^\s*([^\s=;]+)\s*(?:=\s*(?:"([^"]*)"|([^\s;]*)))?/;

/**
 * The seconds of `Prefer: wait=N`; null where nobody asked, or for what cannot be done: a preference is never refused,
 * it is left aside. Of several of one name the first counts.
 */
export function readPreferWait(header: string | null): number | null {
  for (const one of (header ?? "").split(",")) {
    const [, name, quoted, plain] = preference.exec(one) ?? [];
    if (name?.toLowerCase() !== "wait") continue;
    const value = quoted ?? plain ?? "";
    return /^\d{1,3}$/.test(value) && Number(value) <= maxSeconds ? Number(value) : null;
  }
  return null;
}
