import { fileURLToPath } from "node:url";
import tseslint from "typescript-eslint";

// Biome formats and lints what can be seen in the text; here stands only what takes the types to see.
export default tseslint.config({
  files: ["**/*.ts", "**/*.tsx"],
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: {
      project: ["test/tsconfig.json", "src/dashboard/ui/tsconfig.json"],
      tsconfigRootDir: fileURLToPath(new URL("../..", import.meta.url)),
    },
  },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  plugins: { "@typescript-eslint": tseslint.plugin },
  rules: {
    "@typescript-eslint/await-thenable": "error",
    // A query builder is a thenable, no promise: one that nobody awaits is never sent.
    "@typescript-eslint/no-floating-promises": ["error", { checkThenables: true }],
    "@typescript-eslint/no-misused-promises": "error",
    // A promise that is returned from a try block unawaited fails outside of it.
    "@typescript-eslint/return-await": ["error", "error-handling-correctness-only"],
    "@typescript-eslint/switch-exhaustiveness-check": [
      "error",
      { allowDefaultCaseForExhaustiveSwitch: false, considerDefaultExhaustiveForUnions: false },
    ],
  },
});
