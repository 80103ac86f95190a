import type { ComponentChildren } from "preact";
import type { Problem } from "../api/problem.ts";
import { ProblemBox } from "./messages.tsx";

type SectionProps = {
  /** By which it is found. */
  readonly name: string;
  /** The heading, where that says more than the name. */
  readonly title?: string;
  /** Of what it shows. */
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
