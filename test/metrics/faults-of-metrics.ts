/** Units that are not base units, as a part of a name. */
const derivedUnits = /(^|_)(ms|milliseconds?|minutes?|hours?|days?|kb|mb|kilobytes?|megabytes?|percent)(_|$)/;

/** What is wrong with the metrics of a page, by the rules that `promtool check metrics` has. */
export function faultsOfMetrics(page: string): readonly string[] {
  const helps = new Set([...page.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name));
  const types = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => ({ name, type }));
  const faults = types.flatMap(({ name, type }) => [
    ...(helps.has(name) ? [] : [`${name} has no help text`]),
    ...(type === "counter" && !name.endsWith("_total") ? [`${name} is a counter and does not end in _total`] : []),
    ...(type !== "counter" && name.endsWith("_total") ? [`${name} is no counter and ends in _total`] : []),
    ...(/_(count|sum|bucket)$/.test(name) ? [`${name} ends as a series of a histogram`] : []),
    ...(/[A-Z:]/.test(name) ? [`${name} is not in lower case`] : []),
    ...(derivedUnits.test(name) ? [`${name} has a unit that is no base unit`] : []),
    ...(new RegExp(`_${type}(_|$)`).test(name) ? [`${name} names its type`] : []),
  ]);
  const known = new Set(types.map(({ name }) => name));
  const series = new Set([...page.matchAll(/^([a-zA-Z_:][\w:]*)[ {]/gm)].map(([, name = ""]) => name));
  const strays = [...series].filter((name) => !known.has(name) && !known.has(name.replace(/_(bucket|sum|count)$/, "")));
  return [...faults, ...strays.map((name) => `${name} has no type`)];
}
