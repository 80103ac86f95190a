import type { ComponentChildren } from "preact";

type TableProps = {
  /** What it is a table of: read out, and not shown. */
  readonly caption: string;
  readonly head: readonly ComponentChildren[];
  readonly children: ComponentChildren;
};

/** Wider than a phone it scrolls by itself, with the keyboard too. */
export const Table = ({ caption, head, children }: TableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard.
  <section class="scroll" aria-label={caption} tabIndex={0}>
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {head.map((cell, index) => (
            // Columns never change their order.
            <th key={index} scope="col">
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);
