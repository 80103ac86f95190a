import { describeDocument } from "./document.ts";

describeDocument("docs/auditor.md", { startsItself: true, atMostNotRun: 0 });
