import type { ComponentChildren } from "preact";
import type { Scope } from "./api/answers.ts";

/** One page of the dashboard. To add one: a file under pages/, and a line in pages.ts. */
export type Page = {
  /** The first part of its place: `jobs` of `#/jobs/<id>`. */
  readonly path: string;
  readonly title: string;
  /** Stands behind the title in the menu. */
  readonly mark?: () => ComponentChildren;
  /** Without these scopes there is no such page. */
  readonly needs: readonly Scope[];
  /** False where the service has nothing to show on it; else it stands in the menu. */
  readonly isOffered?: boolean;
  /** `parts` is what follows in the place. */
  readonly view: (props: { readonly parts: readonly string[] }) => ComponentChildren;
};
