import { describeDocument } from "./document.ts";

describeDocument("docs/subscriber.md", { startsItself: true, atMostNotRun: 1 });
