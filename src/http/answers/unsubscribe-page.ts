import type { Answer } from "../server/answer.ts";

/** Nothing is loaded and nothing runs; the one form goes back to where it came from. */
const headers = {
  "Content-Security-Policy": "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Robots-Tag": "noindex, nofollow",
};

const question = `<h1>Unsubscribe</h1>
<p>Do you want to get no more of these e-mails?</p>
<form method="post">
<input type="hidden" name="List-Unsubscribe" value="One-Click">
<button type="submit">Unsubscribe</button>
</form>`;

const done = `<h1>You are unsubscribed</h1>
<p>You will get no more of these e-mails. What is on its way already may still arrive.</p>`;

const invalid = `<h1>This link is not valid</h1>
<p>Perhaps a part of it was lost: copy the whole of it from the e-mail.</p>`;

const page = (status: number, content: string): Answer => ({
  status,
  type: "text/html; charset=utf-8",
  headers,
  body: Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Unsubscribe</title>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`),
});

export const unsubscribeQuestion = (): Answer => page(200, question);
export const unsubscribeDone = (): Answer => page(200, done);
export const unsubscribeInvalid = (): Answer => page(404, invalid);
