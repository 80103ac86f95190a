import { describeDocument } from "./document.ts";

// Containers and a Kubernetes cluster are what an operator has and the tests have not.
describeDocument("ops/guides/operator.md", { atMostNotRun: 5 });
