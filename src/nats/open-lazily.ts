/** Opens at the first call, once for all callers; after a failure the next call opens again. */
export function openLazily<Opened>(open: () => Promise<Opened>): () => Promise<Opened> {
  let opened: Promise<Opened> | null = null;
  return () => {
    opened ??= open().catch((failure: unknown) => {
      opened = null;
      throw failure;
    });
    return opened;
  };
}
