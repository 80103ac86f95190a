import { describeDocument } from "./document.ts";

describeDocument("ops/guides/subscriber.md", { startsItself: true, atMostNotRun: 1 });
