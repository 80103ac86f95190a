import { type Finding, fine, serious, warning, wordsOf } from "../finding.ts";

/** Whether recipients reach the links of RFC 8058. Any answer but a failing server's counts: the path holds no token. */
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
  const advice = "Check that PUBLIC_URL leads to the API from outside, with a valid certificate.";
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { status, body } = await fetch(`${publicUrl}${path}/doctor`, { redirect: "manual", signal });
    await body?.cancel();
    if (status < 500) return [fine("link", `${publicUrl} answers over HTTPS: one-click unsubscribing has a door`)];
    return [serious("link", `${publicUrl} answers ${status}`, advice)];
  } catch (failure) {
    const cause = failure instanceof Error ? failure.cause : undefined;
    return [serious("link", `${publicUrl} does not answer: ${wordsOf(cause ?? failure)}`, advice)];
  }
}
