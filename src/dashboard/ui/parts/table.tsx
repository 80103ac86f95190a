import type { ComponentChildren } from "preact";
import { figure } from "../reading/words.ts";

type TableProps = {
  /** The caption: read out, and not shown. */
  readonly caption: string;
  readonly head: readonly ComponentChildren[];
  readonly children: ComponentChildren;
};

/** A table wider than a phone scrolls by itself, with the keyboard too. */
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

type RowsProps = Omit<TableProps, "children"> & { readonly rows: readonly (readonly ComponentChildren[])[] };

/** A table of plain cells: numbers appear as figures, and unknown values as a dash. The first cells of all rows differ. */
export const Rows = ({ rows, ...table }: RowsProps) => (
  <Table {...table}>
    {rows.map((cells) => (
      <tr key={String(cells[0])}>
        {cells.map((cell, index) => (
          <td key={index}>{typeof cell === "number" ? figure(cell) : (cell ?? "–")}</td>
        ))}
      </tr>
    ))}
  </Table>
);
