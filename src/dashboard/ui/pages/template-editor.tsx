import { useState } from "preact/hooks";
import type { LetterAnswer, StoredTemplateAnswer } from "../api/answers.ts";
import { get, send } from "../api/client.ts";
import { Problem, toProblem } from "../api/problem.ts";
import { CheckedField, faultOf } from "../parts/checked-field.tsx";
import { ProblemBox, tell } from "../parts/messages.tsx";
import { Section } from "../parts/section.tsx";
import { goTo, linkTo } from "../router.ts";
import { callersGone } from "../session.ts";
import { draftOf, emptyLetter, type LetterDraft, readLetter } from "./template-letter.ts";

/**
 * What was typed and neither stored nor closed is there again when the editor is, until another caller comes or the page is
 * loaded anew.
 */
const unstored = { name: "", letters: new Map<string, LetterDraft>() };

callersGone.subscribe(() => {
  unstored.name = "";
  unstored.letters.clear();
});

/** A template that has no version yet. */
export function NewTemplate() {
  const [name, setName] = useState(unstored.name);
  const changeName = (changed: string): void => {
    unstored.name = changed;
    setName(changed);
  };
  return (
    <>
      <p class="path">
        <a href={linkTo(["templates"])}>Templates</a>
      </p>
      <h1>New template</h1>
      <TemplateEditor
        name={name}
        onName={changeName}
        from={null}
        onStored={() => {}}
        onClose={() => goTo(["templates"])}
      />
    </>
  );
}

type EditorProps = {
  readonly name: string;
  /** For a template whose name is to be written, too. */
  readonly onName?: (name: string) => void;
  /** The version to begin with, and which one was the latest then. */
  readonly from: { readonly version: number; readonly latest: number; readonly letter: LetterAnswer } | null;
  readonly onStored: () => void;
  readonly onClose: () => void;
};

/** Writes a letter and stores it as the next version. The service checks it, and names each fault. */
export function TemplateEditor({ name, onName, from, onStored, onClose }: EditorProps) {
  // What it began with stays, also where someone else has stored a version since.
  const [base] = useState(from);
  const [place] = useState(base === null ? "" : `${name}@${base.version}`);
  const [draft, setDraft] = useState<LetterDraft>(
    () => unstored.letters.get(place) ?? (base === null ? emptyLetter : draftOf(base.letter)),
  );
  const [problem, setProblem] = useState<Problem | null>(null);
  const [headersFault, setHeadersFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const change = (changed: LetterDraft): void => {
    unstored.letters.set(place, changed);
    setDraft(changed);
  };
  const forget = (): void => {
    unstored.letters.delete(place);
    if (base === null) unstored.name = "";
  };
  const store = async (): Promise<void> => {
    const { letter, fault } = readLetter(draft);
    setHeadersFault(fault);
    setProblem(null);
    if (letter === null) return;
    setBusy(true);
    try {
      const path = `api/templates/${encodeURIComponent(name.trim())}`;
      if (base === null) await checkName(name.trim(), path);
      const stored = await send<StoredTemplateAnswer>("PUT", path, { body: letter });
      forget();
      tell(storedInWords(stored, base?.latest ?? 0));
      onStored();
      goTo(["templates", stored.name], { version: String(stored.version) });
    } catch (failure) {
      setProblem(toProblem(failure));
      setBusy(false);
    }
  };
  const field = (of: Exclude<keyof LetterDraft, "unsubscribe">, label: string, rows?: number) => (
    <CheckedField
      label={label}
      value={draft[of]}
      {...(rows === undefined ? {} : { rows })}
      fault={(of === "headers" ? headersFault : null) ?? faultOf(problem, `/${of}`)}
      onInput={(value) => change({ ...draft, [of]: value })}
    />
  );

  const inMore = ["text", "html", "from", "replyTo", "headers"] as const;
  const hasMore =
    headersFault !== null || inMore.some((of) => base?.letter[of] !== undefined || faultOf(problem, `/${of}`) !== null);

  return (
    <Section name="Write" title={base === null ? "The letter" : `A new version, from version ${base.version}`}>
      {/* Enter in a field stores nothing: a version is never removed. */}
      <form onSubmit={(event) => event.preventDefault()}>
        {onName !== undefined && (
          <CheckedField
            label="Name: lower-case letters, digits, _ and -"
            value={name}
            onInput={onName}
            fault={faultOf(problem, "name")}
          />
        )}
        {field("subject", "Subject")}
        {field("body", "Body: HTML or plain text, with {{ variables }}", 12)}
        <details open={hasMore}>
          <summary>More</summary>
          {field("text", "Text part, where the body is HTML; empty for one that is made of it", 5)}
          {field("html", "HTML part, where the body is plain text", 5)}
          {field("from", "From")}
          {field("replyTo", "Reply to")}
          {field("headers", "Headers, as a JSON object", 3)}
          <label>
            <input
              type="checkbox"
              checked={draft.unsubscribe}
              onChange={(event) => change({ ...draft, unsubscribe: event.currentTarget.checked })}
            />{" "}
            A link to unsubscribe in each mail
          </label>
        </details>
        {problem !== null && <ProblemBox problem={problem} />}
        <div class="buttons">
          <button
            type="button"
            onClick={() => {
              forget();
              onClose();
            }}
          >
            Close without storing
          </button>
          <button type="button" class="primary" disabled={isBusy} onClick={() => void store()}>
            {base === null ? "Store this template" : "Store as a new version"}
          </button>
        </div>
      </form>
    </Section>
  );
}

/** A name that is taken would get a new version, which all that name it would use from then on. */
async function checkName(name: string, path: string): Promise<void> {
  if (name === "") throw refusedName("The name is missing.");
  try {
    await get(path);
  } catch (failure) {
    if (failure instanceof Problem && failure.status === 404) return;
    throw failure;
  }
  throw refusedName(`There is a template ${name} already. Write its next version on its own page.`);
}

const refusedName = (message: string): Problem =>
  new Problem(400, { title: "The name cannot be used", detail: message, errors: [{ pointer: "name", message }] });

/** `before`: the latest version when the letter was begun. */
function storedInWords({ version, latest }: StoredTemplateAnswer, before: number): string {
  if (version <= before || version < latest) {
    return `This letter is version ${version} already, and was not stored again. The latest one is ${latest}.`;
  }
  const between = version - before - 1;
  return between === 0
    ? `Stored as version ${version}.`
    : `Stored as version ${version}. Others stored ${between === 1 ? "a version" : `${between} versions`} meanwhile.`;
}
