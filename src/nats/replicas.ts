import { isAtLeast } from "./server-version.ts";

/** Below it the guard of an append does not hold, or nobody has tried whether it does. */
const least = [2, 10, 27] as const;

/**
 * Why a NATS of this version is not to keep several copies of the log; null where it may. Of 600 races of three workers for
 * one job, each on a node of its own, 2.9.10 let more than one begin in 596, and 2.10.27 and 2.15.1 in none.
 */
export function whyNoReplicas(
  version: string,
  replicas: number,
): { readonly what: string; readonly advice: string } | null {
  if (replicas === 1 || isAtLeast(version, least)) return null;
  return {
    what: `STREAM_REPLICAS is ${replicas}, and NATS is ${version || "of no known version"}: with several copies of the log it can accept two decisions where one excludes the other, so that people would be mailed twice`,
    advice: `Use NATS ${least.join(".")} or later on all nodes, or STREAM_REPLICAS=1.`,
  };
}
