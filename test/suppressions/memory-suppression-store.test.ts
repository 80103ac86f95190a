import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";
import { suppressionStoreContract } from "./suppression-store-contract.ts";

describe("suppressions in memory", () => suppressionStoreContract(async () => createMemorySuppressionStore()));
