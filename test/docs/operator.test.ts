import { describeDocument } from "./document.ts";

// Containers, a cluster and the program `nats` are what an operator has and the tests have not.
describeDocument("ops/guides/operator.md", { atMostNotRun: 7 });
