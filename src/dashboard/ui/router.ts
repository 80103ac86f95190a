import { signal } from "@preact/signals";

/**
 * The place of the page: `#/jobs/<id>?tab=history`. It is in the hash, so that filters (a part of a subject, an address)
 * never reach the log of a server or a proxy, and the page works under any path.
 */
export type Place = { readonly path: readonly string[]; readonly query: URLSearchParams };

const read = (): Place => {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
};

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export const place = signal<Place>(read());

addEventListener("hashchange", () => {
  place.value = read();
});

export type Query = Readonly<Record<string, string | null>>;

/** A link to a place. Parameters that are null or empty are left out. */
export function linkTo(path: readonly string[], query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null && value !== "") parameters.set(name, value);
  const text = parameters.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

export function goTo(path: readonly string[], query: Query = {}): void {
  location.hash = linkTo(path, query);
}

/** Changes the query of this place. Typing letter by letter adds no step to the browser's history. */
export function changeQuery(changes: Query, step: "new-step" | "same-step" = "new-step"): void {
  const { path, query } = place.value;
  const target = linkTo(path, { ...Object.fromEntries(query), ...changes });
  if (target === location.hash) return;
  if (step === "new-step") {
    location.hash = target;
  } else {
    history.replaceState(null, "", target);
    place.value = read();
  }
}
