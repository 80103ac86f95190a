type ServedLane<Turn> = {
  take(limit: number): Promise<readonly Turn[]>;
  mayHaveWork(): boolean;
};

/** After this many turns in a row for which lower lanes had to wait, the worker serves one of the lower lanes. */
const patience = 9;

/**
 * Takes from the first lane that has work, then from the next. So that the lower lanes do not starve, each in turn is served
 * once after every nine turns; a lone turn of the first lane never waits for that, as it has passed over no other.
 */
export function serveLanes<Turn>(lanes: readonly ServedLane<Turn>[]) {
  let passedOver = 0;
  let next = 0;

  /** Takes one turn, from the next of the lower lanes. */
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
      // Turns already taken must be done, whatever happens to the lanes below.
      if (taken.length === 0) throw failure;
    }
    return taken;
  };
}
