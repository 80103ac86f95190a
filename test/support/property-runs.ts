/** How many cases a test tries: a quarter in the unit tests, which are to be quick, and all of them otherwise. */
export const runsOf = (all: number): number => (process.env["TEST_TIER"] === "unit" ? Math.ceil(all / 4) : all);
