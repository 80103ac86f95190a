import { Gauge, type Registry } from "prom-client";
import type { LogGauge } from "../event-log/following/log-gauge.ts";
import type { GaugeSource } from "./refreshed-gauges.ts";
import { named } from "./registry.ts";

/** Whether NATS is connected, how large the log is, and which listeners and consumers are behind. */
export function createLogGauges(registry: Registry, log: LogGauge, isConnected: () => boolean): readonly GaugeSource[] {
  const registers = [registry];
  new Gauge({
    ...named("nats_connected", "1 while the connection to NATS stands."),
    registers,
    collect() {
      this.set(isConnected() ? 1 : 0);
    },
  });
  return [sizeOfLog(registers, log), loadOfConsumers(registers, log)];
}

function sizeOfLog(registers: Registry[], log: LogGauge): GaugeSource {
  const bytes = new Gauge({ ...named("log_bytes", "Size of the event log."), registers });
  const limit = new Gauge({
    ...named("log_limit_bytes", "Limit of the event log, if it has one; jobs are refused from 80 % on."),
    registers,
  });
  const last = new Gauge({ ...named("log_last_sequence", "Sequence of the last event in the log."), registers });
  return {
    gauges: [bytes, limit, last],
    ask: async () => {
      const size = await log.size();
      return () => {
        bytes.set(size.bytes);
        last.set(size.lastSequence);
        if (size.maxBytes !== null) limit.set(size.maxBytes);
      };
    },
  };
}

function loadOfConsumers(registers: Registry[], log: LogGauge): GaugeSource {
  const labelNames = ["consumer"];
  const pending = new Gauge({
    ...named("consumer_pending", "Messages that wait for a listener of the log, or for a consumer of the turns."),
    labelNames,
    registers,
  });
  const ackPending = new Gauge({
    ...named("consumer_ack_pending", "Messages delivered to a durable consumer and not acknowledged yet."),
    labelNames,
    registers,
  });
  const redelivered = new Gauge({
    ...named("consumer_redelivered", "Unacknowledged messages that were delivered more than once."),
    labelNames,
    registers,
  });
  return {
    gauges: [pending, ackPending, redelivered],
    ask: async () => {
      const loads = await log.consumers();
      return () => {
        for (const load of loads) {
          const consumer = { consumer: load.name };
          if (load.pending !== null) pending.set(consumer, load.pending);
          if (load.ackPending !== null) ackPending.set(consumer, load.ackPending);
          if (load.redelivered !== null) redelivered.set(consumer, load.redelivered);
        }
      };
    },
  };
}
