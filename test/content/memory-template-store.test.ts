import { createMemoryTemplateStore } from "../support/memory/memory-template-store.ts";
import { behavesAsTemplateStore } from "./template-store-contract.ts";

describe("Templates in memory", () => {
  behavesAsTemplateStore(async () => createMemoryTemplateStore());
});
