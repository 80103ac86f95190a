/** What a key lets its bearer do. None includes another: a key has what it was given by name. */
export const scopes = ["jobs:read", "jobs:write", "events:read", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** What a caller must have to be let in: a scope, or no more than a key that is valid. */
export type Needed = Scope | "any";

/** Those of a key that was made without naming any. */
export const defaultScopes: readonly Scope[] = scopes.filter((scope) => scope !== "admin");

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);
