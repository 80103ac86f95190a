import { separateProcesses } from "../deployment.ts";
import { cpuFigure, measureMailing, speedFigures } from "../measure-mailing.ts";
import { type Measurement, NotAvailable } from "../row.ts";

/** Each entry on the disk before it is acknowledged, as `npm start` and `compose.yaml` have it where the server can. */
export const mailingSynced: Measurement = {
  name: "a mailing, every entry synced",
  timeoutMs: 600_000,
  measure: async (bench) => {
    const measured = await measureMailing(bench, separateProcesses, ({ nats }) => {
      if (nats.syncInterval !== "always") throw new NotAvailable("not available on this NATS");
    });
    return { ...measured, figures: [...speedFigures(measured, { warm: { atLeast: 1.5 } }), cpuFigure(measured)] };
  },
};
