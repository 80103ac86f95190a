import type { Instant } from "../domain/message.ts";

/** Versions count from 1; none is ever changed or removed. */
export type TemplateVersion = {
  readonly version: number;
  /** SHA-256 (hex) of the stored letter. */
  readonly sha256: string;
  readonly createdAt: Instant;
};

/** A name, and every version that was stored under it, the oldest first. */
export type Template = {
  readonly name: string;
  readonly versions: readonly TemplateVersion[];
  /** Null while requests may name it. */
  readonly archivedAt: Instant | null;
};

export type TemplateRef = { readonly tenant: string; readonly name: string };

/** A letter as it is stored, and its digest: the same letter always has the same text. */
export type StoredLetter = { readonly text: string; readonly sha256: string };

/** `isNew`: the version did not exist before. */
export type StoredVersion = {
  readonly isNew: boolean;
  readonly version: TemplateVersion;
  readonly template: Template;
};

export type TemplatePage = {
  /** The name that was changed longest ago comes first; archived names are not among them. */
  readonly templates: readonly Template[];
  /** The `after` of the next page; null after the last one. A page may be short, or empty, where names were archived. */
  readonly next: number | null;
};

/**
 * The letters of all tenants that have names, as the leader of the store has them. Every method throws Unavailable, and
 * can then be called again: each is idempotent.
 */
export interface TemplateStore {
  /** Also an archived one; null for a name that was never used. */
  find(ref: TemplateRef): Promise<Template | null>;

  /**
   * Stores a letter as the next version, unless one of the versions is this letter: then that version is the answer. Of
   * several calls at once, each different letter gets a version of its own. An archived name comes back. Null if the name
   * has as many versions as it may have. Throws LogFull.
   */
  put(ref: TemplateRef, letter: StoredLetter, at: Instant): Promise<StoredVersion | null>;

  /** The text of a letter; null if it is not there, or not what the digest says. */
  letter(ref: TemplateRef, sha256: string): Promise<string | null>;

  /** Archives the name: no new request may name it. Null if it was never used or is archived already. Throws LogFull. */
  archive(ref: TemplateRef, at: Instant): Promise<Template | null>;

  /** Reads one page; memory does not depend on the number of names. */
  page(tenant: string, request: { readonly after: number; readonly limit: number }): Promise<TemplatePage>;
}

/** The list of versions is one message, which NATS limits to a megabyte. */
export const maxVersions = 1000;

/** The template with the letter as a version. `isNew` is false where nothing is to be stored; null where it is full. */
export function withLetter(
  before: Template | null,
  name: string,
  sha256: string,
  at: Instant,
): (StoredVersion & { readonly isChanged: boolean }) | null {
  const versions = before?.versions ?? [];
  const known = versions.find((one) => one.sha256 === sha256);
  if (known !== undefined && before !== null) {
    const template = { ...before, archivedAt: null };
    return { isNew: false, isChanged: before.archivedAt !== null, version: known, template };
  }
  if (versions.length >= maxVersions) return null;
  const version = { version: versions.length + 1, sha256, createdAt: at };
  return {
    isNew: true,
    isChanged: true,
    version,
    template: { name, versions: [...versions, version], archivedAt: null },
  };
}

/** The version of this number, or the latest for null. */
export const findVersion = ({ versions }: Template, number: number | null): TemplateVersion | undefined =>
  number === null ? versions.at(-1) : versions.find(({ version }) => version === number);
