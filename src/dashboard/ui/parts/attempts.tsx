import type { Attempt } from "../api/answers.ts";
import { Ago, Status } from "./status.tsx";

/** The attempts for one recipient, with the answers of the mail servers. */
export const Attempts = ({ of }: { readonly of: readonly Attempt[] }) =>
  of.length === 0 ? (
    <p>Nothing has happened to this recipient yet.</p>
  ) : (
    <ol class="attempts">
      {of.map(({ status, at, run, attempt, response, error, messageId }) => (
        <li key={`${run} ${attempt} ${at} ${status}`}>
          <Status of={status} /> <Ago at={at} /> run {run}, attempt {attempt}
          {(response ?? error?.message) !== undefined && <code>{response ?? error?.message}</code>}
          {messageId !== null && <small>{messageId}</small>}
        </li>
      ))}
    </ol>
  );
