import { describeDocument } from "./document.ts";

describeDocument("ops/guides/moving-in.md", { atMostNotRun: 0 });
