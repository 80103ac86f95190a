import { type Providers, receiverOf } from "../../domain/throttles/providers.ts";
import type { JobRoutes } from "../../mail/routes/job-routes.ts";
import type { Receivers } from "../../mail/throttles/receivers.ts";
import type { HoldingBack } from "../../workers/holding-back.ts";
import type { Mailing } from "./mailing.ts";

export type Throttling = {
  /** The receivers of a mail route. */
  readonly of: (route: string) => Receivers;
  /** Whether no receiver is throttled, on no route. */
  readonly isFree: () => boolean;
  readonly providers: Providers;
  /** How many turns of the process may wait for room at a time: the others end, and are offered again. */
  readonly stays: number;
};

/** One call takes a place, the returned one gives it back. */
export function createStays(most: number): HoldingBack["stay"] {
  let taken = 0;
  return () => {
    if (taken >= most) return null;
    taken += 1;
    return () => {
      taken -= 1;
    };
  };
}

/**
 * A mail needs room on each of the routes that may carry it now, as it goes by any of them. An erased recipient has no
 * receiver, and needs no room.
 */
export function holdBack(
  { content }: Mailing,
  routes: Pick<JobRoutes, "carrying">,
  throttling: Throttling | null,
  stay: HoldingBack["stay"],
): HoldingBack | undefined {
  if (throttling === null) return undefined;
  /** The routes may have changed when room is given back. */
  const taken = new Map<string, (readonly Receivers[])[]>();
  const carrying = (): readonly Receivers[] => routes.carrying().map(throttling.of);
  const longest = (times: readonly number[]): number => Math.max(0, ...times);
  return {
    isFree: throttling.isFree,
    receiverOf: (recipient) => receiverOf(content.recipients[recipient]?.email ?? "", throttling.providers),
    waitMs: (receiver) => longest(carrying().map((receivers) => receivers.waitMs(receiver))),
    returnInMs: (receiver, recipients) => longest(carrying().map((one) => one.returnInMs(receiver, recipients))),
    admit: (receiver) => {
      const admitting: Receivers[] = [];
      for (const receivers of carrying()) {
        const waitMs = receivers.admit(receiver);
        if (waitMs === 0) admitting.push(receivers);
        if (waitMs === null || waitMs === 0) continue;
        for (const one of admitting) one.leave(receiver);
        return waitMs;
      }
      if (admitting.length === 0) return null;
      taken.set(receiver, [...(taken.get(receiver) ?? []), admitting]);
      return 0;
    },
    leave: (receiver) => {
      const [first = [], ...others] = taken.get(receiver) ?? [];
      for (const one of first) one.leave(receiver);
      if (others.length === 0) taken.delete(receiver);
      else taken.set(receiver, others);
    },
    stay,
  };
}
