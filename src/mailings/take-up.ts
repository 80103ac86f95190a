/** Tens of thousands may be open, and nothing else is heard until all are read. */
const atOnce = 16;

/**
 * Some at a time. After a failure it takes up no more, and throws it once the others in hand are done; nor does it once it
 * is to stop.
 */
export async function takeUpAll(
  names: readonly string[],
  takeUp: (name: string) => Promise<void>,
  stopping: AbortSignal,
): Promise<void> {
  const left = names.values();
  let hasFailed = false;
  const takeSome = async (): Promise<void> => {
    for (const name of left) {
      if (hasFailed || stopping.aborted) return;
      await takeUp(name).catch((failure: unknown) => {
        hasFailed = true;
        throw failure;
      });
    }
  };
  const taken = await Promise.allSettled(Array.from({ length: atOnce }, takeSome));
  const failed = taken.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
