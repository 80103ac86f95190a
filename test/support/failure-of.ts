/** What a promise is rejected with; fails where it is not. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => null,
    (failure: unknown) => failure,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error(outcome === null ? "It was expected to fail and did not" : `It failed with ${String(outcome)}`);
}
