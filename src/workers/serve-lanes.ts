type ServedLane<Turn> = {
  take(limit: number): Promise<readonly Turn[]>;
  mayHaveWork(): boolean;
};

/** After so many turns in a row that lanes further down had to wait for, one of those is served. */
const patience = 9;

/**
 * Takes from the first lane that has work, then from the next. So that those behind do not starve, each in its turn is
 * served once after every nine; a lone turn of the first lane never waits for that, as it had passed over no other.
 */
export function serveLanes<Turn>(lanes: readonly ServedLane<Turn>[]) {
  let passedOver = 0;
  let next = 0;

  /** One turn, of the next lane among those behind. */
  const takeBehind = async (): Promise<readonly Turn[]> => {
    passedOver = 0;
    for (let tried = 1; tried < lanes.length; tried += 1) {
      next = (next % (lanes.length - 1)) + 1;
      const taken = (await lanes[next]?.take(1)) ?? [];
      if (taken.length > 0) return taken;
    }
    return [];
  };

  return async (limit: number): Promise<readonly Turn[]> => {
    const taken: Turn[] = [];
    try {
      if (passedOver >= patience) taken.push(...(await takeBehind()));
      for (const [place, lane] of lanes.entries()) {
        if (taken.length === limit) break;
        const some = await lane.take(limit - taken.length);
        taken.push(...some);
        const areOthersWaiting = lanes.slice(place + 1).some((other) => other.mayHaveWork());
        if (some.length > 0) passedOver = areOthersWaiting ? passedOver + some.length : 0;
      }
    } catch (failure) {
      // What was taken is to be done, whatever becomes of the lanes below it.
      if (taken.length === 0) throw failure;
    }
    return taken;
  };
}
