const shares: Readonly<Record<string, number>> = { unit: 1 / 4, usual: 1 / 2 };

/** How many cases a test tries: a quarter in `npm run test:unit`, half in `npm test`, and all of them otherwise. */
export const runsOf = (all: number): number => Math.ceil(all * (shares[process.env["TEST_TIER"] ?? "all"] ?? 1));
