import { describeDocument } from "./document.ts";

describeDocument("README.md", {
  startsItself: true,
  // Its first job is asked for in the same words by every reader, and nothing else is shown with a digest.
  hasSameDigests: true,
  atMostNotRun: 0,
});
