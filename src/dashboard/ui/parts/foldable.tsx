import type { ComponentChildren } from "preact";

const isWide = (): boolean => matchMedia("(width >= 40rem)").matches;

/** Closed at first on a narrow screen, so that the rows below it are what one sees. A wide one shows no handle. */
export const Foldable = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <details class="foldable" open={isWide()}>
    <summary>{title}</summary>
    {children}
  </details>
);
