import { useEffect, useRef } from "preact/hooks";

/**
 * HTML of foreign origin, in a page of its own whose policy lets nothing run and nothing be fetched (see the route of
 * /mail-frame). The frame has no `allow-scripts`, so sharing our origin, which lets us put the mail in, gives it nothing.
 */
export function MailFrame({ html }: { readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const fill = (): void => {
    const root = frame.current?.contentDocument?.documentElement;
    if (root && frame.current?.contentDocument?.URL.endsWith("/mail-frame")) root.innerHTML = html;
  };
  // Filled again when the mail changes.
  useEffect(fill, [html]);
  return (
    <iframe
      ref={frame}
      class="mail"
      title="The mail as HTML, without remote pictures."
      sandbox="allow-same-origin"
      src={new URL("mail-frame", document.baseURI).href}
      onLoad={fill}
    />
  );
}
