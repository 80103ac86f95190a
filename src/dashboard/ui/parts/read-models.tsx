import type { StatsAnswer } from "../api/answers.ts";
import { counted, duration } from "../reading/words.ts";
import { Section } from "./section.tsx";
import { Rows } from "./table.tsx";

export const ReadModels = ({ stats }: { readonly stats: StatsAnswer }) => (
  <Section name="Read models">
    <Rows
      caption="Lag of the read models behind the log"
      head={["Read model", "Behind by", "For"]}
      rows={Object.entries(stats.projections).map(([name, { lagEvents, lagSeconds }]) => [
        name,
        lagEvents === null ? null : counted(lagEvents, "event"),
        lagSeconds === null ? null : duration(lagSeconds),
      ])}
    />
  </Section>
);
