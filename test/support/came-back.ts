import { createTransport } from "nodemailer";

/** What a mail server sends back that could not deliver a mail after it had taken it. */
export const bounceOf = (
  to: string,
  status = "5.1.1",
  diagnostic = "550 5.1.1 <ada@example.com>: User unknown",
): string =>
  [
    "From: MAILER-DAEMON@mx.example.com",
    `To: ${to}`,
    "Subject: Undelivered Mail Returned to Sender",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    "",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.com",
    "",
    "Final-Recipient: rfc822; ada@example.com",
    "Action: failed",
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${diagnostic}`,
    "",
    "--b--",
    "",
  ].join("\r\n");

/** A complaint names the mail by its Message-ID: it is sent to an address for all complaints. */
export const complaintAbout = (messageId: string, to: string): string =>
  [
    "From: feedback@isp.example",
    `To: ${to}`,
    "Subject: FW: News",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    "",
    "--b",
    "Content-Type: message/feedback-report",
    "",
    "Feedback-Type: abuse",
    "User-Agent: isp/1",
    "Version: 1",
    "",
    "--b",
    "Content-Type: message/rfc822",
    "",
    `Message-ID: ${messageId}`,
    "Subject: News",
    "",
    "Hello",
    "--b--",
    "",
  ].join("\r\n");

/** Hands a mail to the port that takes what came back; returns the answer, whatever it is. */
export async function sendBack(
  port: number,
  to: string | readonly string[],
  raw: string,
  isLmtp = false,
): Promise<string> {
  const transport = createTransport({ host: "127.0.0.1", port, secure: false, ignoreTLS: true, lmtp: isLmtp });
  try {
    const { response } = await transport.sendMail({ envelope: { from: "", to: [to].flat() }, raw });
    return response;
  } catch (failure) {
    return (failure as { readonly response?: string }).response ?? String(failure);
  } finally {
    transport.close();
  }
}
