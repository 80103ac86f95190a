import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { resultStoreContract } from "./result-store-contract.ts";

describe("the store of results in memory", () => {
  resultStoreContract(() => createMemoryResultStore());
});
