import type { SeriesAnswer } from "../api/answers.ts";
import { get, withQuery } from "../api/client.ts";
import { Chart } from "../parts/chart.tsx";
import { Choice } from "../parts/field.tsx";
import { Section } from "../parts/section.tsx";
import { duration, zoneAt } from "../reading/words.ts";
import { changeQuery, place } from "../router.ts";
import { useLoad } from "../use-load.ts";

const hourMs = 3_600_000;
const periods = {
  hour: { title: "the last hour", ms: hourMs, step: "1m" },
  day: { title: "the last 24 hours", ms: 24 * hourMs, step: "5m" },
  week: { title: "the last 7 days", ms: 7 * 24 * hourMs, step: "1h" },
  month: { title: "the last 30 days", ms: 30 * 24 * hourMs, step: "6h" },
  year: { title: "the last 365 days", ms: 365 * 24 * hourMs, step: "1d" },
} as const;
type Period = keyof typeof periods;

const names = Object.keys(periods) as readonly Period[];
const usual: Period = "hour";
const refreshMs = 5000;

const load = (period: Period) => (signal: AbortSignal) => {
  const { ms, step } = periods[period];
  const from = new Date(Date.now() - ms).toISOString();
  return get<SeriesAnswer>(withQuery("api/stats/series", { from, step }), signal);
};

/** What was mailed, as the service has stored it: from before the page was opened. */
export function Rates() {
  const asked = place.value.query.get("period");
  const period = names.find((name) => name === asked) ?? usual;
  const series = useLoad(`series of ${period}`, load(period), refreshMs);
  const { title } = periods[period];
  return (
    <Section name="Rates" title="Mails per minute" problem={series.problem}>
      <div class="filters">
        <Choice
          label="Show"
          value={period}
          options={names.map((name) => [name, periods[name].title])}
          onChange={(value) => changeQuery({ period: value === usual ? null : value })}
        />
      </div>
      {series.value !== null && !series.isStale && <RatesChart key={period} title={title} series={series.value} />}
    </Section>
  );
}

function RatesChart({ title, series }: { readonly title: string; readonly series: SeriesAnswer }) {
  const { stepSeconds, to, points } = series;
  const end = Date.parse(to);
  // The last step is still going on: its mails are of the part that has passed.
  const perMinute = (at: string, count: number): number => {
    const seconds = Math.min(stepSeconds, Math.max(1, (end - Date.parse(at)) / 1000));
    return Math.round((count * 6000) / seconds) / 100;
  };
  const valuesOf = (name: "mailsSent" | "mailsFailed" | "mailsBounced") =>
    points.map((point) => perMinute(point.at, point[name]));
  return (
    <>
      <Chart
        label={`Mails per minute in ${title}`}
        times={points.map(({ at }) => Date.parse(at) / 1000)}
        series={[
          { label: "sent", color: "--good", values: valuesOf("mailsSent") },
          { label: "failed", color: "--bad", values: valuesOf("mailsFailed") },
          { label: "bounced", color: "--held", values: valuesOf("mailsBounced") },
        ]}
      />
      <p class="quiet">
        Means over {duration(stepSeconds)}, in the time of {zoneAt(new Date(end))}.
      </p>
    </>
  );
}
