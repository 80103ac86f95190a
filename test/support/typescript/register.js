import { register } from "node:module";
import { setFlagsFromString } from "node:v8";

/**
 * Lets Node load TypeScript, for mocha. tsx does the same for scripts that run alone, but it gives every function its
 * name anew whenever the function is made: a fifth of the simulation's CPU.
 */
process.setSourceMapsEnabled(true);
// Node 20 would compile a function for speed after so little use that most of what tests call does not pay it back: a
// tenth of the CPU of all unit tests. Later releases of Node do not know the flag.
if (process.version.startsWith("v20.")) setFlagsFromString("--interrupt-budget=500000");
register("./hooks.js", import.meta.url);
// Mocha loads test files with `import` then, as Node loads the service. `require` knows no hooks in Node 20.
Object.defineProperty(process.features, "require_module", { value: false });
