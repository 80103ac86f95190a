import { register } from "node:module";

/**
 * Lets Node load TypeScript, for mocha. tsx does the same for scripts that run alone, but it gives every function its
 * name anew whenever the function is made: a fifth of the simulation's CPU.
 */
process.setSourceMapsEnabled(true);
register("./hooks.js", import.meta.url);
// Mocha loads test files with `import` then, as Node loads the service. `require` knows no hooks in Node 20.
Object.defineProperty(process.features, "require_module", { value: false });
