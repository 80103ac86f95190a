import { describeDocument } from "./document.ts";

describeDocument("README.md", {
  // As its sections on webhooks and seals say for trying them.
  env: { WEBHOOK_ALLOW: "127.0.0.0/8", SEAL_FILE: "seals.ndjson", SEAL_EVERY_EVENTS: "10" },
  startsItself: true,
  // Its first job is asked for in the same words by everybody, and nothing else is shown with a digest.
  hasSameDigests: true,
  atMostNotRun: 0,
});
