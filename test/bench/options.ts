import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

export type Options = {
  /** Rows whose name contains this. */
  readonly only: string;
  readonly rounds: number;
  /** Smaller sizes, for work on the benchmark: the figures are hints. */
  readonly quick: boolean;
  /** The jobs of the aged log; null for the usual number. */
  readonly jobs: number | null;
  /** Lines of the file of one mailing; null for the usual number. */
  readonly recipients: number | null;
  /** Where the figures of every round are written. */
  readonly json: string;
};

/** Throws where the command line makes no sense. */
export function readOptions(args: readonly string[], rowNames: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: "" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      jobs: { type: "string" },
      recipients: { type: "string" },
      json: { type: "string", default: join(tmpdir(), `waybill-bench-${Date.now()}.json`) },
    },
  });
  const { only, quick, json } = values;
  if (!rowNames.some((name) => name.includes(only))) {
    throw new Error(`--only is "${only}"; expected a part of one of:\n  ${rowNames.join("\n  ")}`);
  }
  return {
    only,
    quick,
    json,
    rounds: readNumber("--rounds", values.rounds ?? (quick ? "1" : "3"), 1, 100),
    jobs: values.jobs === undefined ? null : readNumber("--jobs", values.jobs, 1000, 100_000_000),
    recipients:
      values.recipients === undefined ? null : readNumber("--recipients", values.recipients, 1000, 10_000_000),
  };
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${name} is "${text}"; expected a whole number from ${least} to ${most}`);
}
