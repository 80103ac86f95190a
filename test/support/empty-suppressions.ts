import type { ErasurePorts } from "../../src/erasure/complete-erasure.ts";

/** For erasures where no mail has brought anybody onto a list. */
export const emptySuppressions: ErasurePorts["suppressions"] = { forgetAddressesOf: async () => {} };
