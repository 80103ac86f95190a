import type { StatsAnswer } from "../api/answers.ts";
import { counted, duration } from "../reading/words.ts";
import { Table } from "./table.tsx";

export const ReadModels = ({ stats }: { readonly stats: StatsAnswer }) => (
  <section aria-label="Read models">
    <h2>Read models</h2>
    <Table caption="How far read models are behind the log" head={["Read model", "Behind by", "For"]}>
      {Object.entries(stats.projections).map(([name, { lagEvents, lagSeconds }]) => (
        <tr key={name}>
          <td>{name}</td>
          <td>{lagEvents === null ? "–" : counted(lagEvents, "event")}</td>
          <td>{lagSeconds === null ? "–" : duration(lagSeconds)}</td>
        </tr>
      ))}
    </Table>
  </section>
);
