import type { TSchema } from "typebox";
import { checkedBy } from "./checked-by.ts";
import { events } from "./events.ts";

/** A version of a type that is no longer written, with its step to the next version. */
export type PastVersion = { readonly schema: TSchema; readonly lift: (data: unknown) => unknown };

/** One released version of one type. */
export type EventVersion = {
  readonly type: string;
  readonly dataschema: string;
  /** Validates data of this version and upcasts it to the newest one; throws SchemaBroken. */
  readonly read: (data: unknown) => unknown;
};

export type EventVersions = {
  /** Every version of every type ever released, by its `dataschema`. */
  readonly byDataschema: ReadonlyMap<string, EventVersion>;
  /** The version that is written, by type. */
  readonly newest: ReadonlyMap<string, EventVersion>;
};

/**
 * The past versions of a type, oldest first. To change a schema, append its former text to the type's past versions,
 * with a function that converts the old data to the new; no other code changes.
 */
export function eventVersions(
  schemas: Readonly<Record<string, TSchema>>,
  past: Readonly<Record<string, readonly PastVersion[]>>,
): EventVersions {
  const all = Object.entries(schemas).map(([type, schema]) => versionsOf(type, schema, past[type] ?? []));
  return {
    byDataschema: new Map(all.flat().map((version) => [version.dataschema, version])),
    newest: new Map(all.flatMap((versions) => versions.slice(-1)).map((version) => [version.type, version])),
  };
}

/** The versions that are no longer written but stay readable forever. None yet: every type is at its version 1. */
export const pastVersions: Readonly<Record<string, readonly PastVersion[]>> = {};

const newestSchemas = Object.fromEntries(Object.entries(events).map(([type, { schema }]) => [type, schema]));

/** The types and versions that this release reads and writes. */
export const releasedVersions: EventVersions = eventVersions(newestSchemas, pastVersions);

/**
 * Oldest first. Data passes through every step from its own version on, and is validated before each and at the end.
 */
function versionsOf(type: string, schema: TSchema, past: readonly PastVersion[]): readonly EventVersion[] {
  const steps = past.map((version) => {
    const check = checkedBy(version.schema);
    return (data: unknown): unknown => version.lift(check(data));
  });
  const checkNewest = checkedBy(schema);
  return [...steps.keys(), steps.length].map((index) => {
    const stepsFromHere = steps.slice(index);
    return {
      type,
      dataschema: `urn:waybill:event:${type}:${index + 1}`,
      read: (data) => checkNewest(stepsFromHere.reduce((lifted, step) => step(lifted), data)),
    };
  });
}
