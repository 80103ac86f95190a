import type { ErasurePorts } from "../../src/erasure/complete-erasure.ts";

/** An empty suppression list, for erasures that find no address on it. */
export const emptySuppressions: ErasurePorts["suppressions"] = { forgetAddressesOf: async () => {} };
