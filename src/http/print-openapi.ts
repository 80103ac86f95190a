import { describeApi } from "./api.ts";

// The build makes the types of src/sdk from it.
process.stdout.write(`${JSON.stringify(describeApi())}\n`);
