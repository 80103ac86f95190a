import { Counter, type Registry } from "prom-client";
import { named } from "./registry.ts";

/** Counts a report about a mail that was sent, by what became of it. */
export type ReportTaken = (result: string) => void;

export function createReportMetrics(registry: Registry): ReportTaken {
  const reports = new Counter({
    ...named(
      "reports_total",
      "Reports about mails that were sent, by what became of them: recorded, known, unattributed, nothing.",
    ),
    labelNames: ["result"],
    registers: [registry],
  });
  return (result) => reports.inc({ result });
}
