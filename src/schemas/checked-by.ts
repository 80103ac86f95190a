import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Static, TSchema } from "typebox";

/** A value that breaks the schema it claims to follow. */
export class SchemaBroken extends Error {
  override readonly name = "SchemaBroken";
}

/**
 * A process compiles schemas while it meets its first events and requests. The schemas are its own and tests hold those of
 * events and of the API against the meta-schema; to compile that one, and to optimize the code, took over half of the time.
 */
export const quickly = { strict: true, meta: false, validateSchema: false, code: { optimize: false } } as const;

const ajv = new Ajv2020(quickly);

/**
 * Returns a value typed, or throws SchemaBroken with the first fault. The schema is compiled at the first use: a
 * process that never meets an event of some type does not pay for its schema at the start.
 */
export function checkedBy<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  let validate: ValidateFunction<Static<Schema>> | undefined;
  return (value) => {
    validate ??= ajv.compile<Static<Schema>>(schema);
    if (validate(value)) return value;
    const fault = validate.errors?.[0];
    throw new SchemaBroken(`${fault?.instancePath || "/"} ${fault?.message}`);
  };
}
