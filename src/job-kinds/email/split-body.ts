type Parts = { readonly html: string | null; readonly text: string | null };

/** The elements that mails are made of. */
const elements =
  "a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|footer|h[1-6]|head|header|hr|html|i|img|li|link|" +
  "main|meta|ol|p|pre|s|section|small|span|strike|strong|style|sub|sup|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul";

const tag = new RegExp(`<(?:!doctype\\s+html|/?(?:${elements})(?=[\\s/>]))`, "i");

/**
 * Which part of a mail `body` is. With `text` given it is the HTML, with `html` given the plain text. Alone it is
 * HTML if there is a doctype or the tag of an element in it: `<p>` makes it HTML, `a < b` and `<ada@example.com>` do not.
 */
export function splitBody(mail: { readonly body: string; readonly html?: string; readonly text?: string }): Parts {
  if (mail.text !== undefined) return { html: mail.body, text: mail.text };
  if (mail.html !== undefined) return { html: mail.html, text: mail.body };
  return tag.test(mail.body) ? { html: mail.body, text: null } : { html: null, text: mail.body };
}
