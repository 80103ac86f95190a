import type { ComponentChildren } from "preact";
import type { Problem } from "../api/problem.ts";
import { ProblemBox } from "./messages.tsx";

type SectionProps = {
  /** The accessible name. */
  readonly name: string;
  /** The heading, where it differs from the name. */
  readonly title?: string;
  /** The problem of loading the section's data. */
  readonly problem?: Problem | null;
  readonly children: ComponentChildren;
};

/** A part of a page under a heading of its own. */
export const Section = ({ name, title = name, problem = null, children }: SectionProps) => (
  <section aria-label={name}>
    <h2>{title}</h2>
    {problem !== null && <ProblemBox problem={problem} />}
    {children}
  </section>
);
