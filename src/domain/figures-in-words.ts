/** `13 %`, `5.3 %`: one more digit if the number is small, unless that digit is a zero. */
export function shareInWords(share: number): string {
  const percent = share * 100;
  const digits = share > 0 && share < 0.1 ? 1 : 0;
  return `${percent.toFixed(digits).replace(/\.0$/, "")} %`;
}

const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** `45 s`, `5 min 10 s`, `2 h 10 min`: two units at most. */
export function durationInWords(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const first = units.findIndex(([, size]) => whole >= size);
  let rest = whole;
  const words: string[] = [];
  for (const [name, size] of units.slice(first === -1 ? -1 : first).slice(0, 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || words.length === 0) words.push(`${count} ${name}`);
  }
  return words.join(" ");
}
