import type { JetStreamAccountStats } from "nats";

/**
 * How much the account stores, by what it may: 1 is all of it. Null for an account without a limit; what else is in it
 * counts, too. An account may have one limit for streams without copies and another for those with three.
 */
export function shareOfAccount(
  { storage, limits, tiers }: Pick<JetStreamAccountStats, "storage" | "limits" | "tiers">,
  replicas: number,
): number | null {
  const tier = tiers?.[replicas > 1 ? "R3" : "R1"] ?? { storage, limits };
  return tier.limits.max_storage > 0 ? tier.storage / tier.limits.max_storage : null;
}
