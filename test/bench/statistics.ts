export const median = (values: readonly number[]): number => percentile(values, 50);

/** The smallest of the values that so many per cent of them do not exceed; the median of two is the lower one. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new Error("There is no percentile of no values");
  return value;
}

/** Null where one of the values is not known. */
export const medianOfKnown = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === values.length ? median(known) : null;
};
