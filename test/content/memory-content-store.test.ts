import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { attachmentStoreContract, contentStoreContract } from "./content-store-contract.ts";

describe("the content store in memory", () => {
  const store = createMemoryContentStore();
  contentStoreContract(() => store);
  attachmentStoreContract(() => store);
});
