import { describeDocument } from "./document.ts";

describeDocument("ops/guides/auditor.md", { startsItself: true, atMostNotRun: 0 });
