import { useMemo, useState } from "preact/hooks";
import { readMail } from "../reading/mail.ts";
import { counted } from "../reading/words.ts";
import { MailFrame } from "./mail-frame.tsx";
import { Fact } from "./status.tsx";
import { Tabs } from "./tabs.tsx";

const shownHeaders = ["from", "to", "reply-to", "date", "message-id", "list-unsubscribe"];

/** A mail as its reader would see it, and its source. */
export function MailView({ bytes }: { readonly bytes: Uint8Array }) {
  const [tab, setTab] = useState("html");
  const { headers, html, text, attachments } = useMemo(() => readMail(bytes), [bytes]);
  const subject = headers.find(([name]) => name.toLowerCase() === "subject")?.[1];
  const none = <p>The mail has no such part.</p>;
  const tabs = [
    { id: "html", title: "HTML", view: () => (html === null ? none : <MailFrame html={html} />) },
    { id: "text", title: "Text", view: () => (text === null ? none : <pre>{text}</pre>) },
    { id: "source", title: "Source", view: () => <pre>{new TextDecoder().decode(bytes)}</pre> },
  ];
  return (
    <article class="mail-view">
      <h2>{subject || "(no subject)"}</h2>
      <dl class="facts">
        {headers
          .filter(([name]) => shownHeaders.includes(name.toLowerCase()))
          .map(([name, value]) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
        {attachments.length > 0 && (
          <Fact name="Attachments">
            {attachments.map(({ filename, type, size }) => `${filename ?? type} (${counted(size, "byte")})`).join(", ")}
          </Fact>
        )}
      </dl>
      <Tabs label="The mail" tabs={tabs} chosen={html === null && tab === "html" ? "text" : tab} onChoose={setTab} />
    </article>
  );
}
