import { useState } from "preact/hooks";
import type { LetterAnswer, TemplatePreviewAnswer } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { CheckedField } from "../parts/checked-field.tsx";
import { MailFrame } from "../parts/mail-frame.tsx";
import { ProblemBox } from "../parts/messages.tsx";
import { Fact } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { readObject } from "../reading/read-json.ts";
import { sampleVariables } from "../reading/sample-variables.ts";
import { useLoad } from "../use-load.ts";

type LetterProps = { readonly letter: LetterAnswer };

/** What a letter has besides its words. */
export function TemplateFacts({ letter: { from, replyTo, headers = {}, unsubscribe } }: LetterProps) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["From", from],
    ["Reply to", replyTo],
    ...Object.entries(headers),
    ["Unsubscribe", unsubscribe === true ? "with a link in each mail" : undefined],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ),
      )}
    </dl>
  );
}

type PreviewProps = LetterProps & { readonly name: string; readonly version: number };

/** The letter as one recipient would get it. Nothing is sent. */
export function TemplatePreview({ name, version, letter }: PreviewProps) {
  const { subject, body, html, text } = letter;
  const [typed, setTyped] = useState(() => JSON.stringify(sampleVariables([subject, body, html, text]), null, 2));
  const [asked, setAsked] = useState(typed);
  const [fault, setFault] = useState<string | null>(null);
  const path = `api/templates/${encodeURIComponent(name)}/preview`;
  const preview = useLoad(`${path} ${version} ${asked}`, (signal) =>
    send<TemplatePreviewAnswer>("POST", path, { body: { version, variables: readObject(asked).value }, signal }),
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = readObject(typed);
    setFault(read.fault);
    if (read.fault === null) setAsked(typed);
  };
  return (
    <>
      <form onSubmit={submit}>
        <CheckedField
          label="Variables of one recipient, as JSON"
          rows={5}
          value={typed}
          onInput={setTyped}
          fault={fault}
        />
        <div class="buttons">
          <button type="submit">Preview</button>
        </div>
      </form>
      {preview.problem !== null && <ProblemBox problem={preview.problem} />}
      {preview.value !== null && <Shown preview={preview.value} letter={letter} />}
    </>
  );
}

type ShownProps = LetterProps & { readonly preview: TemplatePreviewAnswer };

function Shown({ preview: { subject, html, text, warnings }, letter }: ShownProps) {
  const [tab, setTab] = useState("html");
  const none = <p>The mail has no such part.</p>;
  const tabs = [
    { id: "html", title: "HTML", view: () => (html === null ? none : <MailFrame html={html} />) },
    { id: "text", title: "Text", view: () => (text === null ? none : <pre>{text}</pre>) },
    { id: "source", title: "As it was written", view: () => <Source letter={letter} /> },
  ];
  return (
    <article class="mail-view">
      <h3>{subject}</h3>
      {warnings.map(({ code, message }) => (
        <p key={code} class="box problem">
          {message}
        </p>
      ))}
      <Tabs label="The letter" tabs={tabs} chosen={html === null && tab === "html" ? "text" : tab} onChoose={setTab} />
    </article>
  );
}

const Source = ({ letter: { subject, body, html, text } }: LetterProps) => (
  <dl>
    {Object.entries({ Subject: subject, Body: body, HTML: html, Text: text }).map(([name, value]) =>
      value === undefined ? null : (
        <Fact key={name} name={name}>
          <pre>{value}</pre>
        </Fact>
      ),
    )}
  </dl>
);
