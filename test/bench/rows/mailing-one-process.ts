import { oneProcess } from "../deployment.ts";
import { cpuFigure, measureMailing, speedFigures } from "../measure-mailing.ts";
import type { Measurement } from "../row.ts";

export const mailingOneProcess: Measurement = {
  name: "a mailing, one process",
  timeoutMs: 600_000,
  measure: async (bench) => {
    let atLeast = 1.6;
    const measured = await measureMailing(bench, oneProcess, ({ nats }) => {
      // Less is promised of a log that is on the disk before it is acknowledged.
      if (nats.syncInterval === "always") atLeast = 1.5;
    });
    return { ...measured, figures: [...speedFigures(measured, { warm: { atLeast } }), cpuFigure(measured)] };
  },
};
