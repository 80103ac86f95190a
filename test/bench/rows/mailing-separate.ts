import { separateProcesses } from "../deployment.ts";
import { cpuFigure, measureMailing, speedFigures } from "../measure-mailing.ts";
import { type Measurement, NotAvailable } from "../row.ts";

/** NATS as it is without a setting: entries are on the disk within two minutes. */
export const mailingSeparate: Measurement = {
  name: "a mailing, separate processes",
  timeoutMs: 600_000,
  measure: async (bench) => {
    const measured = await measureMailing(bench, separateProcesses, ({ nats }) => {
      if (nats.syncInterval === "always") throw new NotAvailable("npm start has this NATS sync every entry");
    });
    const targets = { warm: { atLeast: 2 }, cold: { atLeast: 1.5 } };
    return { ...measured, figures: [...speedFigures(measured, targets), cpuFigure(measured, { atMost: 0.75 })] };
  },
};
