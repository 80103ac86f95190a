type Variables = { [name: string]: Variables | string };

/** An output of Liquid that begins with a name: `{{ name }}`, `{{- order.total | round }}`. */
const output = /\{\{-?\s*([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)/g;

/** The service sets these itself. */
const givenByService = ["email", "unsubscribeUrl"];

/**
 * Variables with which a letter can be shown: each name that it prints, as its own value. What it prints in a loop is not
 * among them in the right place: the service then names the fault, and a person completes them.
 */
export function sampleVariables(texts: readonly (string | undefined)[]): Variables {
  const variables = empty();
  for (const [, path = ""] of texts.flatMap((text) => [...(text ?? "").matchAll(output)])) {
    const names = path.split(".");
    if (givenByService.includes(names[0] ?? "")) continue;
    const last = names.pop() ?? "";
    const place = names.reduce(inside, variables);
    if (typeof place[last] !== "object") place[last] = last;
  }
  return variables;
}

/** Without a prototype: `__proto__` is a name as any other. */
const empty = (): Variables => Object.create(null);

function inside(variables: Variables, name: string): Variables {
  const known = variables[name];
  if (typeof known === "object") return known;
  const made = empty();
  variables[name] = made;
  return made;
}
