import { useState } from "preact/hooks";
import { toProblem } from "../api/problem.ts";
import { save } from "../api/save.ts";
import { tell } from "./messages.tsx";

/** Saves a file from the service, and reports a failure. */
export function SaveButton({ title, path }: { readonly title: string; readonly path: string }) {
  const [isBusy, setBusy] = useState(false);
  const run = (): void => {
    setBusy(true);
    save(path)
      .catch((failure: unknown) => tell(`Not saved: ${toProblem(failure).message}`))
      .finally(() => setBusy(false));
  };
  return (
    <button type="button" disabled={isBusy} onClick={run}>
      {title}
    </button>
  );
}
