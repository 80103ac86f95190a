export type Pipeline<Item> = {
  /** Items to handle first, that need no claim any more. */
  readonly claimed?: readonly Item[];
  /** Taken from the front. Meanwhile others may take from the end, and add. */
  readonly items: Item[];
  /** How many items may be handled at a time; called again each time, as other jobs begin and end. */
  readonly window: () => number;
  /** How many items to claim at a time, once fewer than half as many wait to be handled; called again each time. */
  readonly claimSize: () => number;
  /**
   * Claims a group of items, and returns those to handle: it may leave some out, and add others. False where the pipeline
   * must stop and leave them alone. A rejection also ends the pipeline.
   */
  readonly claim: (group: readonly Item[]) => Promise<readonly Item[] | boolean>;
  readonly handle: (item: Item) => Promise<void>;
  readonly mayGoOn: () => boolean;
};

export type PipelineEnd<Item> = {
  /** False where the pipeline was stopped before every item was handled. */
  readonly isComplete: boolean;
  /** Items that were claimed and then not handled. */
  readonly unhandled: readonly Item[];
};

/**
 * Claims items in groups and handles up to `window` at once; the pipeline claims the next group while it handles those
 * before, so that handling never waits for a claim. Resolves when everything that was begun has ended.
 */
export async function runPipeline<Item>(pipeline: Pipeline<Item>): Promise<PipelineEnd<Item>> {
  const { claimed = [], items, window, claimSize, claim, handle, mayGoOn } = pipeline;
  const ready = [...claimed];
  let inHand = 0;
  let isClaiming = false;
  let failure: unknown = null;
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const isGoing = (): boolean => failure === null && mayGoOn();

  const begin = (step: Promise<void>, finish: () => void): void => {
    step
      .catch((reason: unknown) => {
        failure ??= reason;
      })
      .finally(() => {
        finish();
        pump();
      });
  };
  const claimNext = (size: number): void => {
    const group = items.splice(0, size);
    isClaiming = true;
    const claimed = claim(group).then((toHandle) => {
      if (toHandle === false) items.unshift(...group);
      else ready.push(...(toHandle === true ? group : toHandle));
    });
    begin(claimed, () => {
      isClaiming = false;
    });
  };
  const pump = (): void => {
    const width = Math.max(1, window());
    while (isGoing() && ready.length > 0 && inHand < width) {
      inHand += 1;
      begin(handle(ready.shift() as Item), () => {
        inHand -= 1;
      });
    }
    const size = Math.max(1, claimSize());
    const isRunningLow = ready.length < size / 2;
    if (isGoing() && !isClaiming && isRunningLow && items.length > 0) claimNext(size);
    if (inHand === 0 && !isClaiming && (!isGoing() || items.length === 0)) end();
  };

  pump();
  await ended;
  if (failure !== null) throw failure;
  return { isComplete: items.length === 0 && ready.length === 0, unhandled: ready };
}
