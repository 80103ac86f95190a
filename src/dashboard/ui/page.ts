import type { ComponentChildren } from "preact";
import type { Scope } from "./api/answers.ts";

/** One page of the dashboard. To add one: a file under pages/, and a line in pages.ts. */
export type Page = {
  /** The first part of its place: `jobs` of `#/jobs/<id>`. */
  readonly path: string;
  readonly title: string;
  /** The letter that leads to it after `g`. */
  readonly shortcut: string;
  /** Shown after the title in the menu. */
  readonly mark?: () => ComponentChildren;
  /** Without these scopes the page does not exist. */
  readonly needs: readonly Scope[];
  /** False where the service has nothing to show on the page; otherwise the menu lists it. */
  readonly isOffered?: boolean;
  /** `parts` is the rest of the place. */
  readonly view: (props: { readonly parts: readonly string[] }) => ComponentChildren;
};
