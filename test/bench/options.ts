import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

export type Options = {
  /** Rows whose name contains this. */
  readonly only: string;
  readonly rounds: number;
  /** Smaller sizes, for work on the benchmark: the figures are hints. */
  readonly quick: boolean;
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
      json: { type: "string", default: join(tmpdir(), `waybill-bench-${Date.now()}.json`) },
    },
  });
  const { only, quick, json } = values;
  const rounds = Number(values.rounds ?? (quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
    throw new Error(`--rounds is "${values.rounds}"; expected a whole number from 1 to 100`);
  }
  if (!rowNames.some((name) => name.includes(only))) {
    throw new Error(`--only is "${only}"; expected a part of one of:\n  ${rowNames.join("\n  ")}`);
  }
  return { only, rounds, quick, json };
}
