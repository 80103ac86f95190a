import { type Finding, fine, serious, warning, wordsOf } from "../finding.ts";

/** Whether recipients reach the links of RFC 8058. The path holds no token, so the answer is the page for links that are not valid. */
export async function examineUnsubscribe(
  publicUrl: string | null,
  path: string,
  timeoutMs: number,
): Promise<readonly Finding[]> {
  if (publicUrl === null) {
    const advice =
      "Set PUBLIC_URL to the https URL at which recipients reach the API, and send with unsubscribe: true.";
    return [warning("link", "PUBLIC_URL is not set: mails have no link of Waybill to unsubscribe by", advice)];
  }
  if (!publicUrl.startsWith("https:")) {
    return [
      serious("link", `PUBLIC_URL ${publicUrl} is not https, which RFC 8058 asks for`, "Set it to an https URL."),
    ];
  }
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { status, headers, body } = await fetch(`${publicUrl}${path}/doctor`, { redirect: "manual", signal });
    await body?.cancel();
    return [judgeAnswer(`${publicUrl}${path}`, status, headers.get("X-Robots-Tag"))];
  } catch (failure) {
    const cause = failure instanceof Error ? failure.cause : undefined;
    return [serious("link", `${publicUrl} does not answer: ${wordsOf(cause ?? failure)}`, advice)];
  }
}

const advice = "Check that PUBLIC_URL leads to the API from outside, with a valid certificate.";

/** Other servers answer 404 as well, such as a proxy that passes nothing on but what is below /api. */
export function judgeAnswer(url: string, status: number, robots: string | null): Finding {
  if (status >= 500) return serious("link", `${url} answers ${status}`, advice);
  if (status === 404 && robots === "noindex, nofollow")
    return fine("link", `${url} answers over HTTPS: one-click unsubscribing has a door`);
  return warning(
    "link",
    `${url} answers ${status}, but not as Waybill does there`,
    `Let the proxy at PUBLIC_URL pass on to the API what is below ${new URL(url).pathname}, GET and POST.`,
  );
}
