import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import { zoneAt } from "../reading/words.ts";

export type Series = { readonly label: string; readonly color: string; readonly values: readonly (number | null)[] };

type ChartProps = {
  readonly label: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
};

const height = 220;
/** With fewer samples, two of them would fill the whole width. */
const leastSeconds = 300;
const daySeconds = 86_400;
const formats = {
  time: new Intl.DateTimeFormat("sv-SE", { timeStyle: "short" }),
  dayAndTime: new Intl.DateTimeFormat("sv-SE", {
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  }),
  day: new Intl.DateTimeFormat("sv-SE", { dateStyle: "short" }),
};

/** As much of a moment as tells it from the others of the chart. */
function timeOf(seconds: number, times: ArrayLike<number>): string {
  const span = (times[times.length - 1] ?? 0) - (times[0] ?? 0);
  const format = span <= daySeconds ? "time" : span <= 60 * daySeconds ? "dayAndTime" : "day";
  return formats[format].format(seconds * 1000);
}

/** A canvas is invisible to screen readers: the same figures are in a table that can be opened. */
export function Chart({ label, times, series }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const data = [[...times], ...series.map(({ values }) => [...values])] as UPlot.AlignedData;

  // Created once; the data is set below.
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const made = new UPlot(optionsFor(current, series), data, current);
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height }));
    resize.observe(current);
    return () => {
      resize.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data));

  return (
    <figure>
      <div ref={place} class="chart" role="img" aria-label={label} />
      <details>
        <summary>As a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Time ({zoneAt(new Date())})</th>
              {series.map((one) => (
                <th key={one.label} scope="col">
                  {one.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.slice(-20).map((time, index) => (
              <tr key={time}>
                <td>{timeOf(time, times)}</td>
                {series.map(({ label: name, values }) => (
                  <td key={name}>{values.slice(-20)[index] ?? "–"}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** The library would show a whole day for a single sample. */
function spanOf(times: ArrayLike<number>): [number, number] {
  const last = times[times.length - 1] ?? 0;
  return [Math.min(times[0] ?? 0, last - leastSeconds), last];
}

/** A canvas knows no custom properties and no colour scheme, so it takes the present colours from the page. */
function resolved(place: HTMLElement, name: string): string {
  place.style.color = `var(${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = "";
  return color;
}

function optionsFor(place: HTMLElement, series: readonly Series[]): UPlot.Options {
  const colour = (name: string) => () => resolved(place, name);
  const axis = {
    stroke: colour("--chart-ink"),
    grid: { stroke: colour("--chart-line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: place.clientWidth,
    height,
    legend: { live: false },
    cursor: { show: false },
    scales: {
      x: { range: ({ data: [times] }) => spanOf(times) },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] },
    },
    axes: [
      // Room for dates and times side by side.
      { ...axis, space: 90, values: ({ data: [times] }, seconds) => seconds.map((at) => timeOf(at, times)) },
      { ...axis, size: 60 },
    ],
    series: [
      {},
      ...series.map(({ label, color }) => ({ label, stroke: colour(color), width: 2, points: { show: false } })),
    ],
  };
}
