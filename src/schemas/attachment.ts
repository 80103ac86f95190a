import { type Static, Type } from "typebox";
import { closed } from "./request-schema.ts";

export const maxAttachments = 10;
/** Of all attachments of a job together. */
export const maxAttachmentBytes = 5 * 1024 * 1024;

const attachment = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      maxLength: 200,
      format: "file-name",
      description: "a file name of 1 to 200 characters, without a path and without control characters",
    }),
    contentType: Type.String({
      maxLength: 100,
      format: "media-type",
      description: "a media type such as application/pdf, none of multipart/* and message/*",
    }),
    content: Type.String({ format: "base64", description: "the bytes of the file in base64" }),
    contentId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        format: "content-id",
        description: '1 to 100 characters of an address or a word, as in <img src="cid:…">',
      }),
    ),
  },
  closed,
);

export type RequestedAttachment = Static<typeof attachment>;

export const attachments = Type.Array(attachment, {
  maxItems: maxAttachments,
  description: `an array of at most ${maxAttachments} attachments`,
});
