export type ReadObject =
  | { readonly value: Readonly<Record<string, unknown>>; readonly fault: null }
  | { readonly value: null; readonly fault: string };

/** A JSON object as it is typed; nothing means an empty one. */
export function readObject(text: string): ReadObject {
  if (text.trim() === "") return { value: {}, fault: null };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { value: value as Readonly<Record<string, unknown>>, fault: null };
    }
  } catch (failure) {
    return { value: null, fault: `This is not JSON: ${failure instanceof Error ? failure.message : String(failure)}` };
  }
  return { value: null, fault: "This is JSON, but no object; expected { … }" };
}
