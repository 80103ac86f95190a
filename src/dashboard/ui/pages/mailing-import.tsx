import { useEffect, useRef, useState } from "preact/hooks";
import type { ImportAnswer } from "../api/answers.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import { upload } from "../api/upload.ts";
import { Section } from "../parts/section.tsx";
import { counted, figure } from "../reading/words.ts";

type ImportProps = {
  readonly mailingId: string;
  /** Also after an import that broke off: it may have added some recipients. */
  readonly onImported: () => void;
};

type Sending = { readonly share: number; readonly going: AbortController };

/** By the name: browsers take the type from the system, which calls a CSV file what its spreadsheet says. */
const typeOf = ({ name }: File): string => (/\.(ndjson|jsonl)$/i.test(name) ? "application/x-ndjson" : "text/csv");

/** Adds recipients from a file, which is sent as it is: it may be larger than what a page can hold. */
export function MailingImport({ mailingId, onImported }: ImportProps) {
  const [file, setFile] = useState<File | null>(null);
  const [sending, setSending] = useState<Sending | null>(null);
  const [result, setResult] = useState<ImportAnswer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const latest = useRef<AbortController | null>(null);
  useEffect(() => () => latest.current?.abort(), []);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (file === null) return;
    const going = new AbortController();
    latest.current = going;
    setResult(null);
    setProblem(null);
    setSending({ share: 0, going });
    const path = `api/mailings/${encodeURIComponent(mailingId)}/recipients`;
    const onProgress = (share: number): void => setSending({ share, going });
    try {
      setResult(await upload<ImportAnswer>(path, file, { type: typeOf(file), signal: going.signal, onProgress }));
    } catch (failure) {
      if (!going.signal.aborted) setProblem(toProblem(failure));
    }
    setSending(null);
    onImported();
  };

  return (
    <Section name="Import" title="Add recipients" problem={problem}>
      <form class="filters" onSubmit={(event) => void submit(event)}>
        <label class="field">
          CSV with a column “email” and one for each variable, or NDJSON with a recipient a line
          <input
            type="file"
            required
            accept=".csv,.ndjson,.jsonl,text/csv,application/x-ndjson"
            onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
          />
        </label>
        <button type="submit" class="primary" disabled={sending !== null}>
          Import
        </button>
      </form>
      {sending !== null && <Progress {...sending} />}
      {result !== null && <Result result={result} />}
    </Section>
  );
}

const Progress = ({ share, going }: Sending) => (
  <div class="bulk">
    <progress aria-label="Sent of the file" max={1} value={share} />
    <span>{share < 1 ? `${Math.floor(share * 100)} % sent` : "Sent; the service reads the rest"}</span>
    <button type="button" onClick={() => going.abort()}>
      Stop
    </button>
  </div>
);

const Result = ({ result: { lines, added, duplicates, faulty, faults } }: { readonly result: ImportAnswer }) => (
  <div class="box" role="status">
    <strong>{counted(added, "recipient")} added</strong>
    <p>
      {counted(lines, "line")}: {figure(added)} added, {counted(duplicates, "duplicate")}, {figure(faulty)} faulty.
    </p>
    {faulty > 0 && (
      <>
        <p>Correct these lines and import the whole file again: it adds what is missing.</p>
        <ul>
          {faults.map(({ line, message }) => (
            <li key={line}>
              Line {figure(line)}: {message}
            </li>
          ))}
        </ul>
        {faulty > faults.length && <p>The other {figure(faulty - faults.length)} faulty lines are not listed.</p>}
      </>
    )}
  </div>
);
