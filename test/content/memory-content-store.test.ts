import { createMemoryContentStore } from "../../src/content/memory-content-store.ts";
import { contentStoreContract } from "./content-store-contract.ts";

describe("the content store in memory", () => {
  const store = createMemoryContentStore();
  contentStoreContract(() => store);
});
