import { fetchAnswer } from "../api/client.ts";
import { useLoad } from "../use-load.ts";
import { MailView } from "./mail-view.tsx";
import { ProblemBox } from "./messages.tsx";

/** A mail at a path of the service, unchanged. */
export function LoadedMail({ path }: { readonly path: string }) {
  const mail = useLoad(path, async (signal) => {
    const response = await fetchAnswer("GET", path, { signal });
    return new Uint8Array(await response.arrayBuffer());
  });
  if (mail.problem !== null) return <ProblemBox problem={mail.problem} />;
  return mail.value === null ? <p>Loading…</p> : <MailView bytes={mail.value} />;
}
