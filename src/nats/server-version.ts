/** Whether a version such as `10.11.6-MariaDB` or `2.9.10` is at least another, as far as that one goes. */
export function isAtLeast(version: string, least: readonly number[]): boolean {
  const found = version.split(".").map((part) => Number.parseInt(part, 10));
  const differs = least.findIndex((part, index) => (found[index] ?? 0) !== part);
  return differs < 0 || (found[differs] ?? 0) > (least[differs] ?? 0);
}
