/** What was measured first, with everything fresh, and what was measured after the warm-up. */
export type ColdAndWarm<Round> = { readonly cold: Round; readonly warm: readonly Round[] };

/** The warm-up comes on top of the first round, with the same processes and servers. */
export async function coldAndWarm<Round>(
  rounds: number,
  run: () => Promise<Round>,
  warmUp: () => Promise<unknown>,
): Promise<ColdAndWarm<Round>> {
  const cold = await run();
  await warmUp();
  const warm: Round[] = [];
  while (warm.length < rounds) warm.push(await run());
  return { cold, warm };
}
