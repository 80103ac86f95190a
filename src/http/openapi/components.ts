import { exampleOf } from "./example.ts";

type Json = Readonly<Record<string, unknown>>;

/** Collects the schemas of a document, each once, under the name that its `title` gives. */
export type Components = {
  /** The schema as the document has it: a reference, where the schema or a part of it has a title. */
  refer(schema: unknown): unknown;
  readonly all: () => Json;
};

/** `place` is the path of the components in the document. Throws where two different schemas have the same title. */
export function collectComponents(place: string): Components {
  const found = new Map<string, { readonly as: string; readonly schema: Json }>();

  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(refer);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, refer(inner)]));
  };

  const refer = (schema: unknown): unknown => {
    const { title } = (typeof schema === "object" && schema !== null ? schema : {}) as { readonly title?: unknown };
    // A property that is itself named `title` holds a schema there, and no text.
    if (typeof title !== "string") return within(schema);
    const as = JSON.stringify(schema);
    const known = found.get(title);
    if (known !== undefined && known.as !== as) throw new Error(`Two different schemas have the title ${title}`);
    if (known === undefined) {
      const examples = [exampleOf(schema)];
      found.set(title, { as, schema: { ...(within(schema) as Json), examples } });
    }
    return { $ref: `${place}/${title}` };
  };

  return {
    refer,
    all: () =>
      Object.fromEntries(
        [...found]
          .map(([title, { schema }]) => [title, schema] as const)
          .sort(([one], [other]) => (one < other ? -1 : 1)),
      ),
  };
}
